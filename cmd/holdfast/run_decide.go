package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/printable"
)

// newRunActCommand returns a command that does something to a run, and shows what became of it.
func newRunActCommand(a *app, cmd *cobra.Command,
	act func(ctx context.Context, c *client.Client, id string) (api.Run, error)) *cobra.Command {
	var asJSON bool
	cmd = a.ofRun(cmd, func(ctx context.Context, c *client.Client, id string) error {
		run, err := act(ctx, c, id)
		if err != nil {
			return err
		}
		if asJSON {
			return showJSON(a.stdout, run)
		}
		_, err = fmt.Fprintln(a.stdout, lineOf(run))
		return err
	})
	addJSONFlag(cmd, &asJSON)
	return cmd
}

// lineOf says in a line where a run is.
func lineOf(r api.Run) string {
	text := fmt.Sprintf("Run %s of %s is %s", r.ID, r.Workspace, r.Status)
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return printable.Lines(text + ".")
}

// decideFlags are what the command lines of approve and deny say.
type decideFlags struct {
	reason, digest  string
	yes, breakGlass bool
}

func (f *decideFlags) add(cmd *cobra.Command) {
	addReasonFlag(cmd, &f.reason)
	addYesFlag(cmd, &f.yes)
	cmd.Flags().StringVar(&f.digest, "digest", "", "of the plan that you have seen (default: show it, and ask)")
}

func newRunApproveCommand(a *app) *cobra.Command {
	var f decideFlags
	cmd := newRunActCommand(a, &cobra.Command{
		Use:   "approve",
		Short: "Say yes to a run's plan",
		Long: `Say yes to a run's plan: to exactly the one with the digest that "run show" has. On a terminal
it shows the changes and asks first; elsewhere it needs --digest, or --yes for the plan that
the run has now.

With --break-glass your yes is enough by itself, also to a run that you asked for and however many approvals it needs.
It needs the right run:break_glass and a --reason, and is on record as that.`,
		Example: `  holdfast run approve ` + exampleRun + `
  holdfast run approve ` + exampleRun + ` --digest 9f86d081… --reason "reviewed in the meeting"`,
	}, func(ctx context.Context, c *client.Client, id string) (api.Run, error) {
		return a.decideRun(ctx, c, id, f, "Approve", c.ApproveRun)
	})
	f.add(cmd)
	cmd.Flags().BoolVar(&f.breakGlass, "break-glass", false, "in an emergency: be enough by yourself")
	return cmd
}

func newRunDenyCommand(a *app) *cobra.Command {
	var f decideFlags
	cmd := newRunActCommand(a, &cobra.Command{
		Use:     "deny",
		Short:   "Say no to a run's plan, which ends the run",
		Long:    "Say no to a run's plan, as \"run approve\" says yes. The run ends.",
		Example: `  holdfast run deny ` + exampleRun + ` --reason "it would replace the database"`,
	}, func(ctx context.Context, c *client.Client, id string) (api.Run, error) {
		return a.decideRun(ctx, c, id, f, "Deny", c.DenyRun)
	})
	f.add(cmd)
	return cmd
}

// decideRun sends a decision about the plan with the digest that was given, or that people see now.
func (a *app) decideRun(ctx context.Context, c *client.Client, id string, f decideFlags, what string,
	send func(context.Context, string, api.Decision) (api.Run, error)) (api.Run, error) {
	d := api.Decision{Digest: f.digest, Reason: f.reason, BreakGlass: f.breakGlass}
	if d.Digest == "" {
		run, err := c.Run(ctx, id)
		if err != nil {
			return api.Run{}, err
		}
		if run.Pin == nil {
			return api.Run{}, errors.New("nothing can be decided yet: " + lineOf(run))
		}
		if a.interactive && !f.yes {
			if changes, err := c.RunChanges(ctx, id); err == nil {
				err = a.showChanges(changes)
				if err != nil {
					return api.Run{}, err
				}
			}
		}
		if err := a.confirm(ctx, f.yes,
			fmt.Sprintf("%s the plan of run %s of %s?", what, run.ID, printable.Text(run.Workspace))); err != nil {
			return api.Run{}, err
		}
		d.Digest = run.Pin.Digest
	}
	return send(ctx, id, d)
}

func newRunCancelCommand(a *app) *cobra.Command {
	var hard bool
	var reason string
	cmd := newRunActCommand(a, &cobra.Command{
		Use:   "cancel",
		Short: "Have a run end",
		Long: `Have a run end. One that nobody executes ends at once. Otherwise the tool is told to stop, so
that it finishes what is in flight and stores the state. With --hard, after that, it is
killed: what it has not stored may be lost, so this needs the right state:unlock too.`,
		Example: `  holdfast run cancel ` + exampleRun + `
  holdfast run cancel ` + exampleRun + ` --hard --reason "the provider hangs"`,
	}, func(ctx context.Context, c *client.Client, id string) (api.Run, error) {
		o := api.CancelOrder{Level: "soft", Reason: reason}
		if hard {
			o.Level = "hard"
		}
		run, err := c.CancelRun(ctx, id, o)
		if err == nil && !runEnded(run.Status) {
			fmt.Fprintln(a.stderr, printable.Lines(stillInFlight(run, a.now())))
		}
		return run, err
	})
	cmd.Flags().BoolVar(&hard, "hard", false, "kill the tool")
	addReasonFlag(cmd, &reason)
	return cmd
}

func newRunRetryCommand(a *app) *cobra.Command {
	return newRunActCommand(a, &cobra.Command{
		Use:   "retry",
		Short: "Make a new run of one that has ended",
		Long: "Make a new run with the order of one that has ended. It plans again; approvals count again for\nequal " +
			"changes, where the workspace lets them.",
		Example: `  holdfast run retry ` + exampleRun,
	}, func(ctx context.Context, c *client.Client, id string) (api.Run, error) {
		return c.RetryRun(ctx, id, "")
	})
}

func newRunDiscardCommand(a *app) *cobra.Command {
	var reason string
	cmd := newRunActCommand(a, &cobra.Command{
		Use:     "discard",
		Short:   "End a run whose plan nobody wants",
		Long:    "End a run whose plan nobody wants, or that has not begun.",
		Example: `  holdfast run discard ` + exampleRun + ` --reason "superseded"`,
	}, func(ctx context.Context, c *client.Client, id string) (api.Run, error) {
		return c.DiscardRun(ctx, id, reason)
	})
	addReasonFlag(cmd, &reason)
	return cmd
}

func newRunResolveCommand(a *app) *cobra.Command {
	var reason string
	var yes bool
	cmd := newRunActCommand(a, &cobra.Command{
		Use:   "resolve",
		Short: "End a run whose executor was lost while it applied",
		Long: `End an orphaned run: its executor was lost while it applied, and nobody can tell whether it
still does. Look at its machine first. What it may write from now on is kept as a candidate of
the state, and the lock that it holds is released. Asks first on a terminal; elsewhere it needs
--yes.`,
		Example: `  holdfast run resolve ` + exampleRun + ` --reason "its machine is gone" --yes`,
	}, func(ctx context.Context, c *client.Client, id string) (api.Run, error) {
		run, err := c.Run(ctx, id)
		if err != nil {
			return api.Run{}, err
		}
		if run.Status == runOrphaned {
			fmt.Fprintln(a.stderr, lineOf(run))
		}
		why, err := a.reason(ctx, reason)
		if err != nil {
			return api.Run{}, err
		}
		if err := a.confirm(ctx, yes, "Is nothing of its executor left?"); err != nil {
			return api.Run{}, err
		}
		return c.ResolveRun(ctx, id, why)
	})
	addReasonFlag(cmd, &reason)
	addYesFlag(cmd, &yes)
	return cmd
}
