package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster.dev/muster/internal/problem"
)

// newManCommand is for whoever makes packages, so it is not shown.
func newManCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write the manual pages into a folder", Args: cobra.ExactArgs(1), Hidden: true,
		RunE: func(c *cobra.Command, args []string) error { return runMan(a, c.Root(), args[0]) },
	}
}

func runMan(a *app, root *cobra.Command, dir string) error {
	date, err := manDate(a.env("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, c := range documented(root) {
		page := manPage(c, date, version())
		if err := os.WriteFile(filepath.Join(dir, manName(c)+".1"), []byte(page), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// manDate is the date on the pages: of the sources, so that the same sources
// make the same pages, or none.
func manDate(epoch string) (string, error) {
	if epoch == "" {
		return "", nil
	}
	sec, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return "", problem.New(problem.Invalid, "SOURCE_DATE_EPOCH=%s: is not a number of seconds", epoch).WithHint("unset it")
	}
	return time.Unix(sec, 0).UTC().Format(time.DateOnly), nil
}

// documented are a command and those under it that people may use.
func documented(c *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			list = append(list, documented(sub)...)
		}
	}
	return list
}

// manName is the page of a command: muster-run for muster run.
func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage is the manual page of a command.
func manPage(c *cobra.Command, date, release string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q 1 %q %q \"Muster\"\n", strings.ToUpper(manName(c)), date, "muster "+release)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(manName(c)), roff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n\\fB%s\\fR%s\n", roff(c.CommandPath()), roff(manArguments(c)))
	b.WriteString(".SH DESCRIPTION\n" + manText(cmp.Or(c.Long, c.Short+".")))
	b.WriteString(manCommands(c) + manOptions(c))
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(strings.TrimRight(c.Example, "\n")))
	}
	b.WriteString(manSeeAlso(c))
	return b.String()
}

// manArguments is what follows a command's name in its synopsis.
func manArguments(c *cobra.Command) string {
	if c.HasAvailableSubCommands() && !c.Runnable() {
		return " COMMAND"
	}
	return strings.TrimPrefix(c.UseLine(), c.CommandPath())
}

// manText is filled text: empty lines part paragraphs.
func manText(text string) string {
	return strings.ReplaceAll(roff(strings.TrimSpace(text)), "\n\n", "\n.PP\n") + "\n"
}

// manCommands lists what is under a command, by group as the help does.
func manCommands(c *cobra.Command) string {
	var b strings.Builder
	for _, g := range c.Groups() {
		fmt.Fprintf(&b, ".SS %s\n", roff(strings.TrimSuffix(g.Title, ":")))
		for _, sub := range c.Commands() {
			if sub.GroupID == g.ID && sub.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n\\fB%s\\fR\n%s\n", roff(sub.CommandPath()), roff(sub.Short))
			}
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return ".SH COMMANDS\n" + b.String()
}

func manOptions(c *cobra.Command) string {
	c.InitDefaultHelpFlag()
	var b strings.Builder
	add := func(f *pflag.Flag) {
		if !f.Hidden {
			b.WriteString(manFlag(f))
		}
	}
	c.NonInheritedFlags().VisitAll(add)
	c.InheritedFlags().VisitAll(add)
	return ".SH OPTIONS\n" + b.String()
}

// silent are defaults that say nothing.
var silent = []string{"", "0", "0s", "[]", "false", "<nil>"}

func manFlag(f *pflag.Flag) string {
	value, text := pflag.UnquoteUsage(f)
	names := "\\fB" + roff("--"+f.Name) + "\\fR"
	if f.Shorthand != "" {
		names = "\\fB" + roff("-"+f.Shorthand) + "\\fR, " + names
	}
	if value != "" {
		names += " \\fI" + roff(value) + "\\fR"
	}
	if !slices.Contains(silent, f.DefValue) {
		text += " (default " + f.DefValue + ")"
	}
	return ".TP\n" + names + "\n" + roff(text) + "\n"
}

// manSeeAlso names the page above a command and those below it.
func manSeeAlso(c *cobra.Command) string {
	var pages []string
	if c.HasParent() {
		pages = append(pages, manName(c.Parent()))
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			pages = append(pages, manName(sub))
		}
	}
	if len(pages) == 0 {
		return ""
	}
	for i, p := range pages {
		pages[i] = "\\fB" + roff(p) + "\\fR(1)"
	}
	return ".SH SEE ALSO\n" + strings.Join(pages, ",\n") + "\n"
}

// roff makes text safe for roff: no character and no beginning of a line is a
// request, and a hyphen stays one that can be copied into a shell.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(text), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
