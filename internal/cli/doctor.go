package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"muster.dev/muster/internal/ui"
)

func newDoctorCommand(a *app) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use: "doctor", Short: "Say what this machine gives", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runDoctor(a, format) },
	}
	formatFlag(c, &format, "json|yaml")
	return c
}

// A finding is one thing that doctor looked at.
type finding struct {
	What string `json:"what"`
	Good bool   `json:"good"`
	Text string `json:"text"`
}

func runDoctor(a *app, format string) error {
	found, err := examine(a)
	if err != nil {
		return err
	}
	if format != "" {
		return a.print(format, found)
	}
	st := ui.Detect(a.stdout, a.env)
	for _, f := range found {
		mark := ui.OK
		if !f.Good {
			mark = ui.Warning
		}
		pad := "" // to the longest mark
		if !st.Unicode && f.Good {
			pad = "  "
		}
		fmt.Fprintf(a.stdout, "%s%s %-11s %s\n", st.Mark(mark), pad, f.What, clean(f.Text))
	}
	return nil
}
