package job

import (
	"slices"
	"strings"
	"testing"
)

func group(needs map[string][]string) *Group {
	g := &Group{Jobs: map[string]*Spec{}, Needs: map[string]map[string]string{}}
	for name, list := range needs {
		g.Jobs[name] = &Spec{}
		g.Needs[name] = map[string]string{}
		for _, n := range list {
			g.Needs[name][n] = "success"
		}
	}
	return g
}

func TestOrder(t *testing.T) {
	got, err := group(map[string][]string{"report": {"sgd", "adam"}, "sgd": {"data"}, "adam": {"data"}, "data": nil}).Order()
	if want := []string{"data", "adam", "sgd", "report"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("order %v, %v, want %v", got, err, want)
	}
	for name, c := range map[string]struct {
		needs map[string][]string
		text  string
	}{
		"a cycle":         {map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"b"}}, "b needs itself: b needs c needs b"},
		"itself":          {map[string][]string{"a": {"a"}}, "a needs itself: a needs a"},
		"an unknown name": {map[string][]string{"a": {"x"}}, "x is needed and there is no such job (there are a)"},
	} {
		if _, err := group(c.needs).Order(); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %q", name, err, c.text)
		}
	}
}
