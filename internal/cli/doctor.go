package cli

import "github.com/spf13/cobra"

func newDoctorCommand(a *app) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use: "doctor", Short: "Say what this machine gives", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runDoctor(a, format) },
	}
	formatFlag(c, &format, "json|yaml")
	return c
}
