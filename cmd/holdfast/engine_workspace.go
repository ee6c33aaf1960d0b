package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/engine"
)

func newEngineWorkspace(a *app, f *engineFlags) *cobra.Command {
	cmd := newGroup("workspace", "Keep several states of one configuration in its local backend")
	list := &cobra.Command{Use: "list", Short: "List the workspaces, and which one is selected",
		Example: "  holdfast engine workspace list", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			all, err := engine.Workspaces(f.dir)
			if err != nil {
				return engineError(err)
			}
			selected, err := engine.Selected(f.dir)
			if err != nil {
				return engineError(err)
			}
			for _, name := range all {
				mark := " "
				if name == selected {
					mark = "*"
				}
				fmt.Fprintf(a.stdout, "%s %s\n", mark, name)
			}
			return nil
		}}
	makeNew := &cobra.Command{Use: "new NAME", Short: "Make a workspace and select it",
		Example: "  holdfast engine workspace new staging", Args: cobra.ExactArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			return engineError(engine.Select(f.dir, args[0], true))
		}}
	choose := &cobra.Command{Use: "select NAME", Short: "Work in another workspace from now on",
		Example: "  holdfast engine workspace select default", Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			all, err := engine.Workspaces(f.dir)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return all[:min(len(all), completionNames)], cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error { return engineError(engine.Select(f.dir, args[0], false)) }}
	cmd.AddCommand(list, makeNew, choose)
	return cmd
}
