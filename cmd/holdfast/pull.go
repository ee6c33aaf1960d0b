package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/printable"
)

func newPullCommand(a *app) *cobra.Command {
	cmd := newGroup("pull", "See what pull requests would change, and let forks be planned")
	cmd.Long = `Pull requests of a repository are planned where its settings want that: each layer that they change, with
a status of the commit for each and one comment. Nothing of a fork is planned before somebody allows the commit.`
	cmd.AddCommand(newPullListCommand(a), newPullShowCommand(a), newPullLookCommand(a), newPullAllowCommand(a),
		newPullSettingsCommand(a))
	return cmd
}

// pullArgs reads the address of a pull request.
func pullArgs(args []string) (repository string, number int64, err error) {
	number, err = strconv.ParseInt(args[1], 10, 64)
	if err != nil || number <= 0 {
		return "", 0, usageError{fmt.Errorf("%q is not the number of a pull request", args[1])}
	}
	return args[0], number, nil
}

func newPullListCommand(a *app) *cobra.Command {
	var asJSON bool
	var repository string
	cmd := a.remote(&cobra.Command{
		Use:     "list",
		Short:   "List pull requests",
		Long:    "List the pull requests that are known, the highest numbers first, and how their plans do.",
		Example: "  holdfast pull list --repository infra\n  holdfast pull list --json | jq -r 'select(.fork) | .number'",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, c *client.Client, _ []string) error {
		all, err := c.PullRequests(ctx, repository, 0)
		if err != nil {
			return err
		}
		if asJSON {
			for _, p := range all {
				if err := showJSON(a.stdout, p); err != nil {
					return err
				}
			}
			return nil
		}
		return a.showPulls(all)
	})
	cmd.Flags().StringVar(&repository, "repository", "", "those of this repository alone")
	a.tableFlags(cmd, &asJSON)
	return cmd
}

func (a *app) showPulls(all []api.Pull) error {
	t := a.newTable(head{"REPOSITORY", always}, head{"NUMBER", always}, head{"STATE", always}, head{"COMMIT", always},
		head{"FORK", firm}, head{"PLANS", always}, head{"TITLE", filled})
	for _, p := range all {
		fork := ""
		if p.Fork {
			fork = "fork"
		}
		t.add(p.Repository, strconv.FormatInt(p.Number, 10), p.State, shortCommit(p.Commit), fork, plansOf(p), p.Title)
	}
	return t.show()
}

func shortCommit(commit string) string { return commit[:min(12, len(commit))] }

// plansOf counts a pull request's plans by their status.
func plansOf(p api.Pull) (text string) {
	for _, status := range []string{"waiting", "running", "done", "failed", "stale"} {
		n := len(slices.DeleteFunc(slices.Clone(p.Plans), func(plan api.PullPlan) bool { return plan.Status != status }))
		if n == 0 {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += strconv.Itoa(n) + " " + status
	}
	if text == "" {
		return "none"
	}
	return text
}

func newPullShowCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:     "show REPOSITORY NUMBER",
		Short:   "Show a pull request and its plans",
		Long:    "Show a pull request, the plans of the layers that it changes, and what it waits for.",
		Example: "  holdfast pull show infra 7",
		Args:    cobra.ExactArgs(2),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		repository, number, err := pullArgs(args)
		if err != nil {
			return err
		}
		p, err := c.PullRequest(ctx, repository, number)
		if err != nil {
			return err
		}
		if asJSON {
			return showJSON(a.stdout, p)
		}
		return a.showPull(p)
	})
	addJSONFlag(cmd, &asJSON)
	a.addWideFlag(cmd)
	return cmd
}

func (a *app) showPull(p api.Pull) error {
	from := ""
	if p.Fork {
		from = ", from a fork"
	}
	fmt.Fprintf(a.stdout, "%s#%d: %s (%s)\n%s by %s, into %s%s\n", printable.Text(p.Repository), p.Number,
		printable.Text(p.Title), printable.Text(p.State), printable.Text(p.Commit), printable.Text(p.Author),
		printable.Text(p.Base), from)
	lag := ""
	if p.Lacks > 0 {
		lag = fmt.Sprintf("It lacks commits of %s: %d.", p.Base, p.Lacks)
	}
	if p.Apart != "" {
		lag += " The two don't merge by themselves: " + p.Apart
	}
	for _, text := range []string{lag, p.Waits, p.Trouble} {
		if text != "" {
			fmt.Fprintln(a.stdout, printable.Text(text))
		}
	}
	if len(p.Plans) == 0 {
		return nil
	}
	fmt.Fprintln(a.stdout)
	t := a.newTable(head{"LAYER", always}, head{"STATUS", always}, head{"RUN", firm}, head{"APPLY", filled},
		head{"REASON", filled})
	for _, plan := range p.Plans {
		apply, reason := "", plan.Reason
		if reason == "" && plan.Behind != "" {
			reason = p.Base + " has changed " + plan.Behind
		}
		if plan.Apply != nil {
			apply, reason = plan.Apply.Status, plan.Apply.Reason
		}
		t.add(plan.Layer, plan.Status, plan.Run, apply, reason)
	}
	return t.show()
}
