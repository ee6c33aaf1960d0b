package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/printable"
)

// The statuses of a project's runs that these commands look for.
const (
	projectAwaiting = "awaiting_approval"
	projectSuccess  = "success"
)

// infraRun is a run of a project that is shown.
type infraRun struct {
	*infraWork
	order  infraOrder
	synced syncedProject
	// ctx is what the run is followed with. A signal ends it before it is known which run that is;
	// afterwards a signal has the run cancelled.
	ctx      context.Context
	started  func(id string)
	stops    []func() // end what goes on beside
	id       string
	position string // of the stream, to go on from
	out      io.Writer
	midLine  bool            // the log has begun a line
	applying bool            // people were told that it applies
	decided  string          // the digest of the plan that was decided on here
	result   *api.ProjectRun // once it has ended
}

func newInfraRun(ctx context.Context, w *infraWork, order infraOrder, synced syncedProject) *infraRun {
	r := &infraRun{infraWork: w, order: order, synced: synced, out: w.a.logWriter()}
	following, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, cancel)
	r.ctx, r.stops = following, []func(){cancel, func() { unhook() }}
	r.started = func(id string) {
		unhook()
		r.id, r.started = id, func(string) {}
		r.stops = append(r.stops, w.a.watchRun(ctx, w.client, api.Run{ID: id}, w.flags.asJSON).stop)
	}
	return r
}

func (r *infraRun) stop() {
	for _, stop := range r.stops {
		stop()
	}
}

// errAwaiting ends a stream, so that a question may take its time.
var errAwaiting = errors.New("the run waits for approval")

// take shows a message of the stream.
func (r *infraRun) take(e api.ProjectEvent) error {
	if e.Position != "" {
		r.position = e.Position
	}
	switch e.Type {
	case client.ProjectEventLog:
		if strings.HasPrefix(e.Position, "apply:") {
			r.sayApplying()
		}
		return r.log(e.Data)
	case client.ProjectEventRun, client.ProjectEventStatus:
		return r.status(e.Run)
	case client.ProjectEventResult:
		r.result = e.Result
		if r.result == nil {
			return api.ErrForeign
		}
	}
	return nil
}

func (r *infraRun) status(run *api.ProjectRunBrief) error {
	if run == nil {
		return api.ErrForeign
	}
	r.started(run.ID)
	if run.Status == projectAwaiting && run.Digest != nil && *run.Digest != r.decided {
		return errAwaiting
	}
	return nil
}

// log shows a piece of the log.
func (r *infraRun) log(text string) error {
	if text == "" || r.flags.asJSON {
		return nil
	}
	r.midLine = !strings.HasSuffix(text, "\n")
	_, err := io.Copy(r.out, bytes.NewBufferString(text))
	return err
}

// after shows what stands below the log, set off from it.
func (r *infraRun) after(text string) {
	if r.midLine {
		r.show("\n")
	}
	r.midLine = false
	r.show("\n" + text)
}

// sayApplying tells once that from here on it is no plan.
func (r *infraRun) sayApplying() {
	if !r.applying {
		r.applying = true
		r.after(runningApply)
	}
}

// lost says that nothing more is heard of a run.
func (r *infraRun) lost(err error) error {
	switch {
	case r.id != "":
		return fmt.Errorf("run %s goes on, but can't be followed: %w", printable.Text(r.id), err)
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted before the server had said which run it is: look whether there is one")
	}
	return r.explain(err)
}

// end shows how the run has ended, by the exit code too.
func (r *infraRun) end() error {
	run := *r.result
	if run.Status == projectSuccess {
		if r.order.mode == "plan" {
			r.after(insightText(previewOf(run), r.a.paint))
		} else {
			r.after(appliedText(previewOf(run).counts))
		}
	}
	if err := r.showRun(run); err != nil {
		return err
	}
	if run.Status != projectSuccess {
		return fmt.Errorf("run %s has failed%s", printable.Text(run.ID), reasonOf(run.ProjectRunBrief))
	}
	if r.order.detailed && changesAny(run) {
		return exitChanges
	}
	return nil
}

// changesAny reports whether a run's plan changes resources or outputs.
func changesAny(run api.ProjectRun) bool {
	if run.Counts != nil && *run.Counts != (api.ProjectCounts{}) {
		return true
	}
	if run.PlanJSON == nil {
		return false
	}
	is := func(actions []string) bool { return len(actions) > 0 && !slices.Equal(actions, []string{"no-op"}) }
	for _, output := range run.PlanJSON.OutputChanges {
		if is(output.Actions) {
			return true
		}
	}
	return slices.ContainsFunc(run.PlanJSON.ResourceChanges, func(c api.ProjectChange) bool {
		return is(c.Change.Actions) && !slices.Equal(c.Change.Actions, []string{"read"})
	})
}

// reasonOf is why a run is where it is, behind a colon.
func reasonOf(run api.ProjectRunBrief) string {
	if run.Reason == "" {
		return ""
	}
	return ": " + printable.Lines(run.Reason)
}

// ranProject is what was synced and run, as JSON shows it.
type ranProject struct {
	Sync syncedProject  `json:"sync"`
	Run  api.ProjectRun `json:"run"`
}

// showRun shows a run with --json, with its log if that can be had.
func (r *infraRun) showRun(run api.ProjectRun) error {
	if !r.flags.asJSON {
		return nil
	}
	if whole, err := r.client.ProjectRun(r.ctx, r.project, run.ID); err == nil {
		run = whole
	}
	return showJSON(r.a.stdout, ranProject{Sync: r.synced, Run: run})
}
