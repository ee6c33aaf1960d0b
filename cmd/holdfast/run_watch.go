package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/ansi"
	"github.com/holdfast/holdfast/internal/printable"
)

// runWatch shows what becomes of a run that was started here.
type runWatch struct {
	a      *app
	client *client.Client
	id     string
	asJSON bool
	// ctx is what the run is followed with: a signal doesn't end it, but has the run cancelled.
	ctx  context.Context
	stop func()
}

// inFlightEvery is how often it is shown what a cancelled run still does.
const inFlightEvery = 5 * time.Second

func (a *app) watchRun(ctx context.Context, c *client.Client, run api.Run, asJSON bool) *runWatch {
	w := &runWatch{a: a, client: c, id: run.ID, asJSON: asJSON}
	following, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, w.interrupted)
	w.ctx = following
	w.stop = func() {
		unhook()
		cancel()
	}
	return w
}

// say tells people what goes on, beside the log.
func (w *runWatch) say(format string, args ...any) {
	fmt.Fprintln(w.a.stderr, printable.Lines(fmt.Sprintf(format, args...)))
}

// interrupted is the first signal.
func (w *runWatch) interrupted() {
	w.say("Interrupted: run %s is cancelled, so that the tool ends in order. Once more leaves it alone.", w.id)
	run, err := w.client.CancelRun(w.ctx, w.id, api.CancelOrder{Level: "soft", Reason: "interrupted at the terminal"})
	if err != nil {
		if w.ctx.Err() == nil { // else the run has ended meanwhile
			w.say("It could not be cancelled: %v", err)
		}
		return
	}
	for err == nil && !runEnded(run.Status) {
		w.say("%s", stillInFlight(run, w.a.now()))
		if client.Pause(w.ctx, inFlightEvery) != nil {
			return
		}
		run, err = w.client.Run(w.ctx, w.id)
	}
}

// stillInFlight says what a cancelled run still does, and how long it may.
func stillInFlight(run api.Run, now time.Time) string {
	text := "The tool is told to stop"
	if run.Cancel != nil && run.Cancel.Until != nil {
		if left := run.Cancel.Until.Sub(now).Round(time.Second); left > 0 {
			text += fmt.Sprintf(", and has %s for it", left)
		} else {
			text += ", and had its time: `holdfast run cancel --hard` kills it, and what it did may be lost"
		}
	}
	for i, f := range run.InFlight {
		if i == 3 {
			return text + fmt.Sprintf(" and %d more.", len(run.InFlight)-i)
		}
		text += map[bool]string{true: "; in flight: ", false: ", "}[i == 0] +
			fmt.Sprintf("%s (%s, for %s)", f.Address, f.Action, now.Sub(f.Since).Round(time.Second))
	}
	return text + "."
}

// follow shows the log of a stage, and returns the run as it is at its end.
func (w *runWatch) follow(stage string) (api.Run, error) {
	out := w.a.logWriter()
	if w.asJSON {
		out = io.Discard
	}
	if err := w.client.FollowRun(w.ctx, w.id, stage, w.a.runShower(out, w.say)); err != nil {
		return api.Run{}, w.explain(err)
	}
	run, err := w.client.Run(w.ctx, w.id)
	return run, w.explain(err)
}

// explain says that a run goes on of which nothing more is heard.
func (w *runWatch) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("run %s goes on, but can't be followed: %w", w.id, err)
}

// logWriter is where a log goes: with its colours to a terminal, else without.
func (a *app) logWriter() io.Writer {
	if a.paint(bold, "") == "" {
		return ansi.NewStripper(a.stdout)
	}
	return a.stdout
}

// runShower returns what shows the log and, beside it, why the run waits.
func (a *app) runShower(out io.Writer, say func(string, ...any)) func(client.RunUpdate) error {
	var before string
	return func(u client.RunUpdate) error {
		if u.Log != nil {
			_, err := out.Write(u.Log.Bytes)
			return err
		}
		if reason := u.Status.Reason; reason != "" && reason != before && !runEnded(u.Status.Status) {
			before = reason
			say("%s: %s.", u.Status.Status, reason)
		}
		return nil
	}
}

// showPlan shows the changes of a run that has a plan.
func (w *runWatch) showPlan(run api.Run) error {
	if w.asJSON || run.Counts == nil {
		return nil
	}
	changes, err := w.client.RunChanges(w.ctx, w.id)
	if err != nil {
		return err
	}
	return w.a.showChanges(changes)
}

// apply has the plan applied, once it may be.
func (w *runWatch) apply(ctx context.Context, run api.Run, wait bool) error {
	if run.Status == runAwaiting {
		goesOn, err := w.approve(ctx, run, wait)
		if err != nil || !goesOn {
			return err
		}
	}
	run, err := w.follow("apply")
	if err != nil {
		return err
	}
	if run.Status == runSucceeded && !w.asJSON {
		outputs, err := w.client.RunOutputs(w.ctx, w.id)
		if err != nil && !client.IsCode(err, "run_file_not_found") {
			return err
		}
		if err := w.a.showRunOutputs(outputs); err != nil {
			return err
		}
	}
	return w.end(run)
}

// approve asks for a yes here, or says whose is needed.
func (w *runWatch) approve(ctx context.Context, run api.Run, wait bool) (goesOn bool, err error) {
	anybody := run.Needed == 0 && len(run.Gates) == 0 // who may apply
	if anybody && w.a.interactive && !w.asJSON {
		return w.ask(ctx, run)
	}
	how := "holdfast run approve " + run.ID
	switch {
	case anybody:
		w.say("The plan is applied once somebody confirms it: %s", how)
	case run.Needed == 0:
		w.say("The run %s\n  %s", run.Reason, how)
	default:
		w.say("The run %s: those who may approve say\n  %s", run.Reason, how)
	}
	if wait {
		return true, nil
	}
	if w.asJSON {
		_ = showJSON(w.a.stdout, run)
	}
	return false, errors.New("nothing was applied yet")
}

func (w *runWatch) ask(ctx context.Context, run api.Run) (goesOn bool, err error) {
	fmt.Fprint(w.a.stderr, "Apply exactly these changes? [y/N] ")
	answer, err := w.a.readLine(ctx)
	if err != nil {
		return false, errors.New("nothing was applied")
	}
	if answer != "y" && answer != "yes" && answer != "Y" {
		_, err := w.client.DiscardRun(w.ctx, w.id, "not wanted at the terminal")
		return false, errors.Join(errors.New("nothing was applied: the plan is discarded"), err)
	}
	_, err = w.client.ApproveRun(w.ctx, w.id, api.Decision{Digest: run.Pin.Digest})
	return err == nil, err
}

// end says how a run has ended, by the exit code too.
func (w *runWatch) end(run api.Run) error {
	if w.asJSON {
		if err := showJSON(w.a.stdout, run); err != nil {
			return err
		}
	}
	if run.Status != runSucceeded {
		return fmt.Errorf("run %s is %s: %s", run.ID, run.Status, printable.Lines(run.Reason))
	}
	if (run.Kind == "plan" || run.Kind == drift) && run.Counts != nil && run.Counts.Any {
		return exitChanges
	}
	if run.After > 0 {
		w.say("Applied: the state is at version %d.", run.After)
	}
	return nil
}
