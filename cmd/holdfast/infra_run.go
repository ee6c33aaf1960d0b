package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/client"
)

func newInfraPlanCommand(a *app) *cobra.Command {
	var detailed bool
	cmd := a.ofInfra(&cobra.Command{
		Use:   "plan",
		Short: "Sync the folder, and show what an apply would change",
		Long: `Bring the project what is new or other in the folder, plan on the server, and show the log as it
comes; at its end, what would change, and what is known of its costs and safety. The exit code is 0
for a plan; with --detailed-exitcode it is 2 for one with changes.`,
		Example: "  holdfast infra plan --project-id prod/network\n  holdfast infra plan --detailed-exitcode\n  " +
			"holdfast infra plan --json | jq .run.counts",
	}, func(ctx context.Context, w *infraWork) error {
		return w.run(ctx, infraOrder{mode: "plan", detailed: detailed})
	})
	cmd.Flags().BoolVar(&detailed, detailedExit, false, "exit code 2 for a plan with changes")
	cmd.Annotations = map[string]string{detailedExit: "plan"}
	return cmd
}

func newInfraApplyCommand(a *app) *cobra.Command {
	var wait bool
	cmd := a.ofInfra(&cobra.Command{
		Use:   "apply",
		Short: "Sync the folder, plan, ask, and apply exactly that plan",
		Long: `Bring the project what is new or other in the folder, plan on the server, show what would change,
ask, and apply exactly that plan. Anything but y denies it.

Elsewhere than on a terminal nothing is asked: the run waits for somebody's approval, and the exit
code is 3; --yes approves the plan without a question. It is 3, too, where others have to approve
the plan as well; with --wait it goes on when they have. It is 0 when the plan was applied, else 1.`,
		Example: "  holdfast infra apply\n  holdfast infra apply --project-id prod/network --yes\n  " +
			"holdfast infra apply --wait",
	}, func(ctx context.Context, w *infraWork) error {
		return w.run(ctx, infraOrder{mode: "apply", wait: wait})
	})
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until others have approved the plan")
	return cmd
}

// infraOrder is what to run, and how to end.
type infraOrder struct {
	mode           string // plan or apply
	detailed, wait bool
}

// run syncs the folder, and has the server plan or apply.
func (w *infraWork) run(ctx context.Context, order infraOrder) error {
	synced, err := w.sync(ctx)
	if err != nil {
		return err
	}
	w.show("\n" + runningPlan)
	r := newInfraRun(ctx, w, order, synced)
	defer r.stop()
	from := client.ProjectStream{Mode: order.mode}
	for {
		err := w.client.StreamProject(r.ctx, w.project, from, r.take)
		if err == nil {
			return r.end()
		}
		if !errors.Is(err, errAwaiting) {
			return r.lost(err)
		}
		if err := r.decide(ctx); err != nil {
			return err
		}
		from = client.ProjectStream{Run: r.id, Position: r.position}
	}
}
