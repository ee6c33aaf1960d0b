package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/printable"
)

// decide shows the plan of a run that waits for approval, and asks whether to apply it. Where nobody
// can be asked, or where others have to approve it too, it ends: by its exit code, since that is
// no failure.
func (r *infraRun) decide(ctx context.Context) error {
	run, err := r.client.ProjectRun(r.ctx, r.project, r.id)
	if err != nil {
		return r.lost(err)
	}
	if run.Status != projectAwaiting || run.Digest == nil {
		return nil // somebody was faster
	}
	r.after(questionText(previewOf(run), r.a.paint))
	if !r.flags.yes && (!r.a.interactive || r.flags.asJSON) {
		return r.wait(run)
	}
	if !r.flags.yes {
		fmt.Fprint(r.a.stderr, "\n"+applyQuestion)
		answer, err := r.a.readLine(ctx)
		if err != nil {
			_ = r.deny(run) // the signal has it cancelled too: the first of both counts
			return errors.New("nothing was applied: interrupted")
		}
		if !agrees(answer) {
			return r.deny(run)
		}
	}
	r.decided = *run.Digest
	approved, err := r.client.ApproveProjectRun(r.ctx, r.project, r.id, api.ProjectDecision{Digest: *run.Digest})
	if err != nil {
		return err
	}
	if approved.Status == projectAwaiting {
		return r.wait(approved)
	}
	r.sayApplying()
	return nil
}

// wait says whose approval a run waits for. It goes on only where that was asked for.
func (r *infraRun) wait(run api.ProjectRun) error {
	id := printable.Text(run.ID)
	how := fmt.Sprintf("Run %s waits for approval%s. Those who may approve it say\n  holdfast run approve %s\n", id,
		reasonOf(run.ProjectRunBrief), id)
	r.tell("\n" + how)
	if r.order.wait && run.Digest != nil {
		r.decided = *run.Digest
		return nil
	}
	if err := r.showRun(run); err != nil {
		return err
	}
	return exitAwaiting
}

// deny ends the run. Who may apply a plan may leave that, whether or not they may decide for others.
func (r *infraRun) deny(run api.ProjectRun) error {
	const why = "not wanted at the terminal"
	_, err := r.client.DenyProjectRun(r.ctx, r.project, r.id, api.ProjectDecision{Digest: *run.Digest, Reason: why})
	if client.IsCode(err, "right_missing") {
		_, err = r.client.DiscardRun(r.ctx, r.id, why)
	}
	return errors.Join(errors.New("nothing was applied: the plan is denied"), err)
}
