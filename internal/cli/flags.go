package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster.dev/muster/internal/problem"
)

// flagWords says what is wrong with a flag in words for people.
func flagWords(c *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	var bad *pflag.InvalidValueError
	switch {
	case errors.As(err, &bad) && errors.Is(err, strconv.ErrSyntax):
		return fmt.Sprintf("--%s %s: is not %s", bad.GetFlag().Name, bad.GetValue(), kindOf(bad.GetFlag()))
	case errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1:
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := problem.Nearest(unknown.GetSpecifiedName(), names); near != "" {
			return fmt.Sprintf("unknown flag: --%s; did you mean --%s?", unknown.GetSpecifiedName(), near)
		}
	}
	return err.Error()
}

func kindOf(f *pflag.Flag) string {
	if f.Value.Type() == "bool" {
		return "true or false"
	}
	return "a whole number"
}

// unknownCommand puts the error about a command that there is not into our
// words, with the one that may have been meant. Any other stays as it is.
func unknownCommand(root *cobra.Command, err error) error {
	var word string
	if err == nil {
		return nil
	}
	if _, serr := fmt.Sscanf(err.Error(), "unknown command %q", &word); serr != nil {
		return err
	}
	return noCommand(root, word)
}

func noCommand(root *cobra.Command, word string) error {
	text := fmt.Sprintf("there is no command %q", word)
	if near := problem.Nearest(word, commandNames(root)); near != "" {
		text += fmt.Sprintf("; did you mean %s?", near)
	}
	return usageError(root, "%s", text)
}

func commandNames(root *cobra.Command) (names []string) {
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}
