package job

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Group is several jobs of which some need others to have ended.
type Group struct {
	Name          string
	Jobs          map[string]*Spec
	Needs         map[string]map[string]string // job -> the jobs it needs -> success or done
	MaxParallel   int
	StopOnFailure bool
}

// Order returns the names of the jobs so that each comes after those it needs;
// otherwise by name. Unknown names and cycles are errors.
func (g *Group) Order() ([]string, error) {
	var order, path []string
	state := map[string]int{} // 1: on the path, 2: done
	var visit func(name string) error
	visit = func(name string) error {
		switch {
		case state[name] == 2:
			return nil
		case state[name] == 1:
			return fmt.Errorf("%s needs itself: %s", name, strings.Join(append(path[slices.Index(path, name):], name), " needs "))
		case g.Jobs[name] == nil:
			return fmt.Errorf("%s is needed and there is no such job (there are %s)", name, strings.Join(slices.Sorted(maps.Keys(g.Jobs)), ", "))
		}
		state[name] = 1
		path = append(path, name)
		for _, n := range slices.Sorted(maps.Keys(g.Needs[name])) {
			if err := visit(n); err != nil {
				return err
			}
		}
		path = path[:len(path)-1]
		state[name] = 2
		order = append(order, name)
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(g.Jobs)) {
		if err := visit(name); err != nil {
			return nil, err
		}
	}
	return order, nil
}
