package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// docs/commands.md says what the commands say of themselves.
func TestCommandsDoc(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "commands.md")
	got := commandsDoc(newRoot(quiet(t)))
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what the commands say; make generate writes it anew", path)
	}
}

func commandsDoc(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Commands\n\n<!-- Made from the commands by make generate: change them, not this. -->\n\n" + root.Long + "\n\n" +
		"RUN is a run's id, or a job's name for its newest run; where it may be left out, the newest of all is meant.\n" +
		"The commands get, logs, why, attach, wait, stop, suspend, resume and rm also take a group's id or name.\n" +
		"Commands that stand for a run (run, rerun, wait, attach) exit with its code; the others with 0, with 1 after an\n" +
		"error, with 2 when they are used wrongly or a job file is wrong, and with 3 when there is no such run.\n")
	for _, g := range root.Groups() {
		fmt.Fprintf(&b, "\n## %s\n", strings.TrimSuffix(g.Title, ":"))
		for _, c := range documented(root)[1:] {
			if c.GroupID == g.ID {
				b.WriteString(commandDoc(c))
			}
		}
	}
	return b.String()
}

func commandDoc(c *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n### muster %s\n\n    %s\n\n%s\n", c.Name(), c.UseLine(), asText(cmp.Or(c.Long, c.Short+".")))
	if c.Example != "" {
		fmt.Fprintf(&b, "\n```sh\n%s\n```\n", unindent(c.Example))
	}
	rows := flagRows(c)
	if len(rows) > 0 {
		b.WriteString("\n| flag | meaning |\n|---|---|\n" + strings.Join(rows, ""))
	}
	return b.String()
}

// asText keeps what Markdown would take for its own.
func asText(s string) string { return strings.NewReplacer("<", "&lt;", "*", `\*`).Replace(s) }

func unindent(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(l, "  ")
	}
	return strings.Join(lines, "\n")
}

func flagRows(c *cobra.Command) []string {
	var rows []string
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name := "`--" + f.Name + "`"
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + "`, " + name
		}
		text := f.Usage
		if !slices.Contains(silent, f.DefValue) {
			text += " (default " + f.DefValue + ")"
		}
		rows = append(rows, fmt.Sprintf("| %s | %s |\n", name, strings.ReplaceAll(asText(text), "|", `\|`)))
	})
	return rows
}
