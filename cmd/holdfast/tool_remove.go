package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/agent/tools"
)

func newToolRemoveCommand(a *app) *cobra.Command {
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use:   "remove TOOL VERSION",
		Short: "Remove a version of a tool",
		Long: `Remove a version from the store. What runs with it at the moment goes on; a run that needs it
later finds it unavailable. Asks first on a terminal; elsewhere it needs --yes.

` + toolHelp,
		Example: "  holdfast tool remove opentofu 1.9.0\n  holdfast tool remove terraform 1.4.6 --yes --json",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := a.toolStore(cmd)
			if err != nil {
				return err
			}
			name, err := tools.ParseName(args[0])
			if err != nil {
				return usageError{err}
			}
			if err := a.confirm(cmd.Context(), yes,
				fmt.Sprintf("Runs can't use %s %s any more. Remove it?", name, args[1])); err != nil {
				return err
			}
			removed, err := store.Remove(cmd.Context(), name, args[1])
			if err != nil {
				return err
			}
			return a.showRemoved(name, args[1], removed, asJSON)
		},
	}
	addYesFlag(cmd, &yes)
	addJSONFlag(cmd, &asJSON)
	addConfigFlag(cmd)
	return cmd
}

// removedTool is what became of a removal, as JSON shows it.
type removedTool struct {
	Tool    tools.Name `json:"tool"`
	Version string     `json:"version"`
	Removed bool       `json:"removed"` // false if it was not there
}

func (a *app) showRemoved(name tools.Name, version string, removed, asJSON bool) error {
	if asJSON {
		return showJSON(a.stdout, removedTool{name, version, removed})
	}
	text := "There was no %s %s.\n"
	if removed {
		text = "Removed %s %s.\n"
	}
	_, err := fmt.Fprintf(a.stdout, text, name, version)
	return err
}
