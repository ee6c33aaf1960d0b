package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/plan"
)

// newEngineApply is the command apply, or destroy.
func newEngineApply(a *app, f *engineFlags, destroy bool) *cobra.Command {
	var onFailure string
	cmd := &cobra.Command{
		Use:   "apply [PLAN]",
		Short: "Do what a plan shows",
		Long: `Plan, show the plan, ask, and do it. The state is locked meanwhile, and written after each object.
An interrupt lets what has begun come to its end; a second one doesn't wait. A plan that was kept with
plan --out is done without a question, and left alone if planning again gives another one.`,
		Example:           "  holdfast engine apply --var size=3\n  holdfast engine apply network.plan",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: filesOnly,
		RunE: func(cmd *cobra.Command, args []string) error {
			if onFailure != "stop" && onFailure != "continue-independent" {
				return usagef("--on-failure is stop or continue-independent")
			}
			e, p, err := f.planned(cmd, a, args, destroy)
			if err != nil {
				return err
			}
			if err := f.show(a, p); err != nil {
				return err
			}
			if !p.Empty() && !f.approve {
				if err := a.confirmEngine(cmd.Context()); err != nil {
					return err
				}
			}
			return a.applyPlan(cmd.Context(), e, p, f.parallelism, onFailure == "continue-independent")
		},
	}
	if destroy {
		cmd.Use, cmd.Short = "destroy", "Delete everything that the state has"
		cmd.Args, cmd.ValidArgsFunction = cobra.NoArgs, nil
		cmd.Long = "Plan to delete every object that the state has, show the plan, ask, and do it."
		cmd.Example = "  holdfast engine destroy --auto-approve"
	}
	f.planFlags(cmd)
	cmd.Flags().BoolVar(&f.approve, "auto-approve", false, "don't ask")
	cmd.Flags().IntVar(&f.parallelism, "parallelism", apply.DefaultParallelism, "objects of one provider at once")
	cmd.Flags().StringVar(&onFailure, "on-failure", "stop", "stop, or continue-independent with what doesn't need it")
	return cmd
}

// confirmEngine asks whether the plan is to be done.
func (a *app) confirmEngine(ctx context.Context) error {
	if !a.interactive {
		return usagef("nobody can be asked here: --auto-approve says yes")
	}
	fmt.Fprint(a.stderr, "Do you want to perform these actions? Only yes is a yes: ")
	line, err := a.readLine(ctx)
	if err == nil && line != "yes" {
		err = fmt.Errorf("nothing is done")
	}
	return err
}

// applyPlan does a plan and says how it goes.
func (a *app) applyPlan(ctx context.Context, e *engine.Engine, p *plan.Plan, parallelism int, goOn bool) error {
	result, err := a.runPlan(ctx, e, p, apply.Options{Parallelism: parallelism, Continue: goOn, Events: a.showEvent})
	if err != nil {
		return engineError(err)
	}
	word := "Apply"
	if p.Options.Destroy {
		word = "Destroy"
	}
	_, err = fmt.Fprintf(a.stdout, "%s complete! Resources: %d added, %d changed, %d destroyed.\n", word, result.Added,
		result.Changed, result.Destroyed)
	return err
}

// runPlan does a plan. The first interrupt ends ctx, which only keeps new steps from being begun; the second
// ends those that run too.
func (a *app) runPlan(ctx context.Context, e *engine.Engine, p *plan.Plan, o apply.Options) (*apply.Result, error) {
	hard, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	// Listened for from the beginning, so that no second interrupt finds nobody and ends the program.
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(interrupts)
	finished := make(chan struct{})
	defer close(finished)
	go func() {
		if !came(interrupts, finished) || !came(ctx.Done(), finished) {
			return
		}
		fmt.Fprintln(a.stderr, "Interrupted: what has begun comes to its end, and nothing else is begun. "+
			"A second interrupt ends that too.")
		if came(interrupts, finished) {
			cancel()
		}
	}()
	o.Stop = ctx.Done()
	return e.Apply(hard, p, o)
}

// came waits for something, and is false if everything is finished before.
func came[T any](something <-chan T, finished <-chan struct{}) bool {
	select {
	case <-something:
		return true
	case <-finished:
		return false
	}
}

func (a *app) showEvent(e apply.Event) {
	doing := map[plan.Action]string{plan.Create: "Creating...", plan.Update: "Modifying...", plan.Delete: "Destroying...",
		plan.Read: "Reading...", plan.Forget: "Forgetting..."}[e.Action]
	took := e.Elapsed.Round(100 * time.Millisecond)
	switch e.Phase {
	case apply.Started:
		fmt.Fprintf(a.stdout, "%s: %s\n", e.Address, doing)
	case apply.Progress:
		fmt.Fprintf(a.stdout, "%s: %s (still at it after %s)\n", e.Address, doing, took)
	case apply.Finished:
		fmt.Fprintf(a.stdout, "%s: %s (success after %s)\n", e.Address, doing, took)
	case apply.Failed:
		fmt.Fprintf(a.stdout, "%s: %s (failed after %s)\n", e.Address, doing, took)
	case apply.Skipped:
		fmt.Fprintf(a.stdout, "%s: not begun\n", e.Address)
	}
}

func newEngineRefresh(a *app, f *engineFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "refresh",
		Short:   "Record what the objects are now, without changing them",
		Example: "  holdfast engine refresh",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.refreshOnly = true
			e, p, err := f.plan(cmd.Context(), a, false)
			if err != nil {
				return engineError(err)
			}
			if err := f.show(a, p); err != nil {
				return err
			}
			_, err = e.Apply(cmd.Context(), p, apply.Options{})
			return engineError(err)
		},
	}
	f.planFlags(cmd)
	return cmd
}
