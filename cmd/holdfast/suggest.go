package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// suggestCommand refuses whatever is no command of a group, and says which one may be meant.
func suggestCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), didYouMean(cmd.SuggestionsFor(args[0])))
}

// suggestFlag adds to the error of a flag that isn't there which one may be meant. Flags are
// compared as commands are, and by words that they share: --max-bytes is close to --state-max-bytes.
func suggestFlag(cmd *cobra.Command, err error) error {
	unknown, isUnknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !isUnknown {
		return err
	}
	names := &cobra.Command{SuggestionsMinimumDistance: 2}
	var akin []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		if strings.HasSuffix(unknown, "-"+f.Name) || strings.HasSuffix(f.Name, "-"+unknown) {
			akin = append(akin, f.Name)
		}
	})
	found := append(names.SuggestionsFor(unknown), akin...)
	for i, name := range found {
		found[i] = "--" + name
	}
	return fmt.Errorf("%w%s", err, didYouMean(found))
}

// maxSuggestions is how many names are told at most: more are no help.
const maxSuggestions = 3

func didYouMean(names []string) string {
	if len(names) == 0 || len(names) > maxSuggestions {
		return ""
	}
	return "; did you mean " + strings.Join(names, " or ") + "?"
}
