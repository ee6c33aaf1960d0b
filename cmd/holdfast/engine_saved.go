package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/internal/durable"
)

// save keeps a plan in the file that --out names, if it names one.
func (f *engineFlags) save(p *plan.Plan) error {
	if f.out == "" {
		return nil
	}
	text, err := engine.Save(p, version)
	if err != nil {
		return err
	}
	return durable.Write(f.out, string(text))
}

// planned is the plan that is to be done: a new one, or the one of a file, whose approval by f it sets.
func (f *engineFlags) planned(cmd *cobra.Command, a *app, args []string,
	destroy bool) (*engine.Engine, *plan.Plan, error) {
	if len(args) == 0 {
		e, p, err := f.plan(cmd.Context(), a, destroy)
		return e, p, engineError(err)
	}
	for _, name := range []string{"var", "var-file", "target", "replace", "no-refresh"} {
		if cmd.Flags().Changed(name) {
			return nil, nil, usagef("--%s is for planning, and the plan is made already", name)
		}
	}
	saved, err := readSaved(args[0])
	if err != nil {
		return nil, nil, err
	}
	e, err := f.open(a)
	if err != nil {
		return nil, nil, engineError(err)
	}
	p, err := e.Replan(cmd.Context(), saved)
	f.approve = true // by who has looked at the file and named it
	return e, p, engineError(err)
}

func readSaved(path string) (*engine.Saved, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	saved, err := engine.ParseSaved(text)
	return saved, engineError(err)
}

func newEngineShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "show PLAN",
		Short:             "Print a plan that was kept in a file, as JSON",
		Long:              "Print a plan that was kept with plan --out, in the shape of terraform show -json.",
		Example:           "  holdfast engine show network.plan | jq .resource_changes",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: filesOnly,
		RunE: func(_ *cobra.Command, args []string) error {
			saved, err := readSaved(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.stdout, "%s\n", saved.Plan)
			return err
		},
	}
}
