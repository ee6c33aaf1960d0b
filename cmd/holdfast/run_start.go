package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

// runStart is a command that starts a run.
type runStart struct {
	kind, short, long, example string
	applies                    bool
}

const runStartHelp = `

Nothing is pushed: the run is of the workspace's newest configuration, or of --snapshot. The
first SIGINT has the run cancelled, so that the tool ends in order; a second one leaves it
alone, and the run goes on.`

func planning() runStart {
	return runStart{kind: "plan", short: "Show what an apply would change",
		long: `Plan on the server or an agent, show the log as it comes, and end with the changes. Nobody
can apply this plan: see "run apply".

The exit code is that of the tools' -detailed-exitcode: 0 for no changes, 2 for some, 1 for
anything else.` + runStartHelp,
		example: `  holdfast run plan prod/network
  holdfast run plan prod/network --target aws_vpc.main --no-refresh
  holdfast run plan prod/network --refresh-only
  holdfast run plan prod/network --json | jq .counts`}
}

func applying() runStart {
	return runStart{kind: "apply", applies: true, short: "Plan, ask, and apply exactly that plan",
		long: `Plan, show the changes, and apply exactly that plan once somebody has said yes to it. Where the
workspace wants nobody's approval, it asks here, on a terminal. Otherwise it says whose yes is
needed and how to say it, and ends; with --wait it goes on when the plan is approved.

The exit code is 0 when it was applied, or nothing was to be changed, else 1.` + runStartHelp,
		example: `  holdfast run apply prod/network
  holdfast run apply prod/network --message "larger network" --wait
  holdfast run apply prod/network --replace aws_instance.web --auto-approve`}
}

func destroying() runStart {
	return runStart{kind: "destroy", applies: true, short: "Plan the removal of everything, ask, and do exactly that",
		long: `Plan the removal of everything that the workspace's state has, and go on as "run apply" does.
A workspace that is protected refuses it.` + runStartHelp,
		example: `  holdfast run destroy dev/sandbox
  holdfast run destroy dev/sandbox --target aws_instance.web --auto-approve`}
}

// startFlags are what the command lines that start a run say.
type startFlags struct {
	order        api.RunOrder
	refreshOnly  bool
	wait, asJSON bool
}

// drift is the kind of a run that shows how what there is differs from the state.
const drift = "drift"

func newRunStartCommand(a *app, s runStart) *cobra.Command {
	var f startFlags
	cmd := a.remote(&cobra.Command{
		Use: s.kind + " NAME", Short: s.short, Long: s.long, Example: s.example, Args: ofState(cobra.ExactArgs(1)),
		Annotations: map[string]string{detailedExit: s.kind},
	}, func(ctx context.Context, c *client.Client, args []string) error {
		f.order.Workspace, f.order.Kind = args[0], s.kind
		if f.refreshOnly {
			f.order.Kind = drift
		}
		return a.startRun(ctx, c, s, f)
	})
	flags := cmd.Flags()
	flags.StringArrayVar(&f.order.Targets, "target", nil, "only this resource and what it needs; may be repeated")
	flags.StringArrayVar(&f.order.Replace, "replace", nil, "make this resource anew; may be repeated")
	flags.StringVar(&f.order.Message, "message", "", "why, for those who look at the run")
	flags.StringVar(&f.order.Snapshot, "snapshot", "", "the configuration to run (default: the workspace's newest)")
	flags.BoolVar(&f.order.NoRefresh, "no-refresh", false, "plan against the state as it is")
	if s.applies {
		flags.BoolVar(&f.order.AutoApprove, "auto-approve", false, "apply without a question, where the workspace lets you")
		flags.BoolVar(&f.wait, "wait", false, "wait until others have approved the plan")
		flags.BoolVar(&f.wait, "follow", false, "the same as --wait")
	}
	if s.kind == "plan" {
		flags.BoolVar(&f.refreshOnly, "refresh-only", false,
			"show how what there is differs from the state, and nothing else")
	}
	flags.BoolVar(&f.asJSON, "json", false, "print the run as JSON when it ends, and no log")
	return cmd
}

// detailedExit marks commands whose exit code 2 says that there are changes, so that a wrong
// command line must not say that.
const detailedExit = "detailed-exitcode"

func (a *app) startRun(ctx context.Context, c *client.Client, s runStart, f startFlags) error {
	run, err := c.CreateRun(ctx, f.order, "")
	if err != nil {
		return err
	}
	w := a.watchRun(ctx, c, run, f.asJSON)
	defer w.stop()
	w.say("Run %s: %s of %s.", run.ID, run.Kind, run.Workspace)
	if run, err = w.follow("plan"); err != nil {
		return err
	}
	if err := w.showPlan(run); err != nil {
		return err
	}
	if s.applies && !runEnded(run.Status) {
		return w.apply(ctx, run, f.wait)
	}
	return w.end(run)
}
