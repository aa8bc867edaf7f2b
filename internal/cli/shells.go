package cli

import (
	"io"

	"github.com/spf13/cobra"
)

// withoutPackage is what the script for bash takes from the package
// bash-completion, for machines that do not have it: the words of the line.
// Where it is there, it is loaded before and stays.
const withoutPackage = `if ! declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
    _get_comp_words_by_ref()
    {
        local line=${COMP_LINE:0:COMP_POINT}
        read -ra words <<<"$line"
        [[ $line == *[[:space:]] ]] && words+=("")
        cword=$((${#words[@]} - 1)); cur=${words[cword]}; prev=${words[cword - 1]}
    }
fi

`

func newCompletionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "completion SHELL", Short: "Print the script that completes commands, flags, runs and tasks", Args: cobra.ExactArgs(1),
		Long:      "Completion prints a script for bash, zsh or fish that completes commands, flags, runs and tasks.",
		Example:   "  source <(muster completion bash)",
		ValidArgs: []string{"bash", "zsh", "fish"},
		RunE: func(c *cobra.Command, args []string) error {
			switch root := c.Root(); args[0] {
			case "bash":
				if _, err := io.WriteString(a.stdout, withoutPackage); err != nil {
					return err
				}
				return root.GenBashCompletionV2(a.stdout, true)
			case "zsh":
				return root.GenZshCompletion(a.stdout)
			case "fish":
				return root.GenFishCompletion(a.stdout, true)
			}
			return usageError(c, "%s: there is only bash, zsh, fish", args[0])
		},
	}
}
