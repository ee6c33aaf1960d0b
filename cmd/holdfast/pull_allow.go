package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/printable"
)

func newPullLookCommand(a *app) *cobra.Command {
	return a.remote(&cobra.Command{
		Use:     "look REPOSITORY NUMBER",
		Short:   "Have a pull request looked at now",
		Long:    "Have a pull request looked at now, as a webhook does, where one is missing or did not come.",
		Example: "  holdfast pull look infra 7",
		Args:    cobra.ExactArgs(2),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		repository, number, err := pullArgs(args)
		if err != nil {
			return err
		}
		if err := c.LookAtPull(ctx, repository, number); err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.stdout, "Pull request %s#%d is looked at.\n", printable.Text(repository), number)
		return err
	})
}

func newPullAllowCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "allow REPOSITORY NUMBER COMMIT",
		Short: "Let a commit of a fork be planned",
		Long: `Let a commit of a fork's pull request be planned. You have looked at exactly that commit: what it has
is executed when it is planned, and reads the states of the layers that it changes. It gets no sensitive
variables, and another commit has to be allowed again.`,
		Example: "  holdfast pull allow infra 7 89abcdef0123",
		Args:    cobra.ExactArgs(3),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		repository, number, err := pullArgs(args)
		if err != nil {
			return err
		}
		p, err := c.AllowPull(ctx, repository, number, args[2])
		if err != nil {
			return err
		}
		if asJSON {
			return showJSON(a.stdout, p)
		}
		_, err = fmt.Fprintf(a.stdout, "Pull request %s#%d is planned at %s.\n", printable.Text(repository), number,
			printable.Text(p.Commit))
		return err
	})
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func newPullSettingsCommand(a *app) *cobra.Command {
	var plan, apply, branch, planned string
	var asJSON bool
	var cmd *cobra.Command
	cmd = a.remote(&cobra.Command{
		Use:   "settings REPOSITORY",
		Short: "Show or change what a repository wants of pull requests",
		Long: `Show what a repository wants of pull requests, or change what the flags name. Nothing is planned unless
--plan says who may have it planned; pull requests of the repository's own branches are planned at once then.`,
		Example: `  holdfast pull settings infra --plan write
  holdfast pull settings infra --apply admin --branch main
  holdfast pull settings infra --plan off --apply off`,
		Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		set, err := c.PullSettings(ctx, args[0])
		if err != nil {
			return err
		}
		changed := false
		for name, one := range map[string]struct{ to, from *string }{
			"plan": {&set.Plan, &plan}, "apply": {&set.Apply, &apply}, "branch": {&set.Branch, &branch},
			"planned": {&set.Planned, &planned},
		} {
			if cmd.Flags().Changed(name) {
				*one.to, changed = *one.from, true
			}
		}
		if changed {
			if set, err = c.SetPullSettings(ctx, args[0], set); err != nil {
				return err
			}
		}
		if asJSON {
			return showJSON(a.stdout, set)
		}
		_, err = fmt.Fprintf(a.stdout, "plan: %s\napply: %s\nbranch: %s\nplanned: %s\n",
			printable.Text(set.Plan), printable.Text(set.Apply), printable.Text(set.Branch), printable.Text(set.Planned))
		return err
	})
	cmd.Flags().StringVar(&plan, "plan", "", "who has a fork planned, or a plan made again, by what they may do: write, admin or off")
	cmd.Flags().StringVar(&apply, "apply", "", "who applies by a comment: write, admin or off")
	cmd.Flags().StringVar(&branch, "branch", "", "branch that pull requests are to be merged into; empty for any")
	cmd.Flags().StringVar(&planned, "planned", "",
		"what is planned where the branch lacks commits of its base: merge, what a merge would give, or head, it alone")
	addJSONFlag(cmd, &asJSON)
	return cmd
}
