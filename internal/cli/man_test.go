package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"muster.dev/muster/internal/problem"
)

// tool is a command with everything that a page can have.
func tool() *cobra.Command {
	nothing := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "tool", Short: "Do things", Long: "Tool does things.\n.It is no request.\n\n'Nor is this: a\\b."}
	root.AddGroup(&cobra.Group{ID: "do", Title: "Do:"})
	root.PersistentFlags().Bool("quiet", false, "say less")
	list := &cobra.Command{
		Use: "list [flags] [NAME...]", Short: "List things", GroupID: "do", Run: nothing,
		Example: "  tool list -o json\n.hidden",
	}
	list.Flags().StringP("output", "o", "table", "`FORMAT` of the list, or -")
	list.Flags().String("secret", "", "not for people")
	_ = list.Flags().MarkHidden("secret")
	root.AddCommand(list, &cobra.Command{Use: "inner", Short: "Not for people", GroupID: "do", Hidden: true, Run: nothing})
	return root
}

func TestManPage(t *testing.T) {
	root := tool()
	var pages strings.Builder
	for _, c := range documented(root) {
		pages.WriteString(manPage(c, "2025-01-02", "v1.2.3"))
	}
	golden(t, "man.golden", pages.String())
}

func TestManWritesAPageForEveryCommand(t *testing.T) {
	a, dir := quiet(t), filepath.Join(t.TempDir(), "pages")
	root := newRoot(a)
	root.SetArgs([]string{"man", dir})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	for _, c := range root.Commands() {
		_, err := os.Stat(filepath.Join(dir, "muster-"+c.Name()+".1"))
		if there := err == nil; there != c.IsAvailableCommand() {
			t.Errorf("%s: a page is there: %v, and people may use it: %v", c.Name(), there, c.IsAvailableCommand())
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "muster.1")); err != nil {
		t.Error(err)
	}
}

func TestManDate(t *testing.T) {
	for _, c := range []struct {
		epoch, want string
		kind        problem.Kind
	}{
		{"", "", ""},
		{"1735776000", "2025-01-02", ""},
		{"yesterday", "", problem.Invalid},
	} {
		got, err := manDate(c.epoch)
		if got != c.want || (err != nil) != (c.kind != "") || err != nil && problem.KindOf(err) != c.kind {
			t.Errorf("%q: %q, %v; want %q, %q", c.epoch, got, err, c.want, c.kind)
		}
	}
}
