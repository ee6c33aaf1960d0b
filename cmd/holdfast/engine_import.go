package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/plan"
)

func newEngineImport(a *app, f *engineFlags) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "import ADDRESS ID",
		Short: "Record an object that exists already under a resource's address",
		Long: `Record an object that exists already under the address of a resource that the configuration has. Neither the
object nor the configuration is changed: plan shows how they differ afterwards.`,
		Example:           "  holdfast engine import aws_vpc.main vpc-0a1b2c3d\n  holdfast engine import --dry-run 'a_b.c[\"d\"]' 7",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			to, err := addr.Parse(args[0])
			if err != nil {
				return usageError{err}
			}
			e, err := f.open(a)
			if err != nil {
				return engineError(err)
			}
			p, err := e.Plan(cmd.Context(), plan.Options{RefreshOnly: true, NoRefresh: true, Targets: []addr.Resource{to},
				Imports: []plan.Import{{To: to, ID: args[1]}}})
			if err != nil {
				return engineError(err)
			}
			if dryRun {
				_, err := fmt.Fprintf(a.stdout, "%s can be imported as %s. Nothing is recorded.\n", args[1], to)
				return err
			}
			if _, err := e.Apply(cmd.Context(), p, apply.Options{}); err != nil {
				return engineError(err)
			}
			_, err = fmt.Fprintf(a.stdout, "%s is recorded as %s.\n", args[1], to)
			return err
		},
	}
	f.inputFlags(cmd)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only say whether it could be imported")
	return cmd
}
