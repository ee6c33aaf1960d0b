package handlers

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/runs"
)

const (
	// streamBytes is what a stream takes in memory while it sends something.
	streamBytes = 1 << 20
	// A server sends as many streams at once, and as many of them to one organization.
	maxStreams, maxOwnStreams = 1000, 200
)

// stream sends a run's log as it comes, and what becomes of the run, as server-sent events.
func (h runHandlers) stream(ctx context.Context, r *request) (answer, error) {
	want := r.wanted()
	fixed := want.attempt != 0
	if last := cmp.Or(r.header.Get("Last-Event-ID"), r.filled("after")); last != "" {
		if !want.resume(last) {
			r.invalid("the Last-Event-ID is not one that this server gave")
		}
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return &follower{runHandlers: h, r: r, want: want, fixed: fixed}, nil
}

// errCrowded refuses one more of what goes on for long.
func errCrowded(what string) error {
	f := fault.New(fault.TooManyWaiting, "as many %s as an organization may have, or the server sends at once", what)
	f.RetryAfter = 5 * time.Second
	return f
}

// resume goes on behind the event that a reader had last.
func (w *wanted) resume(last string) bool {
	attempt, offset, ok := strings.Cut(last, ":")
	n, err := strconv.ParseUint(attempt, 10, 31)
	at, err2 := strconv.ParseUint(offset, 10, 63)
	if !ok || err != nil || err2 != nil || n == 0 {
		return false
	}
	w.attempt, w.offset = int(n), int64(at)
	return true
}

// follower is an answer that goes on for as long as there may come more of a log.
type follower struct {
	runHandlers
	r     *request
	want  wanted
	fixed bool // to one attempt
	// whole says that the logs of all stages follow each other; behind are those that are to come.
	whole  bool
	behind []runs.Stream

	watch  *runs.Watch
	status api.RunStatus // that was sent last
	*eventStream
}

func (f *follower) send(c *gin.Context) error {
	release, ok := f.streams.TryAcquire(f.r.caller.Org)
	if !ok {
		return errCrowded("streams of logs are being sent")
	}
	defer release()
	ctx, stop := untilStop(c.Request.Context(), f.stopping)
	defer stop()
	watch, err := f.service.Watch(ctx, f.r.caller, f.want.id)
	if err != nil {
		return err
	}
	defer watch.Close()
	f.watch = watch
	if err := f.begin(ctx); err != nil {
		return err
	}
	f.eventStream = beginEvents(c, func(p auth.Principal) error { return f.watch.Allowed(ctx, p) })
	return f.end(ctx, f.follow(ctx))
}

// follow sends what there is, and waits for more until nothing can follow.
func (f *follower) follow(ctx context.Context) error {
	for {
		if err := f.stillGood(); err != nil {
			return err
		}
		more := f.watch.Next()
		progress, over, err := f.look(ctx)
		if err != nil || over {
			return err
		}
		if err := f.stillThere(); err != nil {
			return err
		}
		if progress {
			continue
		}
		if err := f.wait(ctx, more); err != nil {
			return err
		}
	}
}

// look sends what has come since. over says that nothing will follow.
func (f *follower) look(ctx context.Context) (progress, over bool, err error) {
	run, err := f.watch.Run(ctx)
	if err != nil {
		return false, false, err
	}
	said := statusOf(run)
	if said != f.status {
		if err := f.event("status", "", said); err != nil {
			return false, false, err
		}
		f.status = said
	}
	progress, ended, err := f.sendPart(ctx)
	if err != nil || !ended {
		return progress, false, err
	}
	if !f.fixed {
		newest, err := f.watch.Log(ctx, f.want.stream, 0, 0)
		if err != nil {
			return false, false, err
		}
		if newest.Attempt > f.want.attempt {
			f.want.attempt, f.want.offset = newest.Attempt, 0
			return true, false, nil
		}
	}
	if len(f.behind) > 0 {
		f.want = wanted{id: f.want.id, stream: f.behind[0]}
		f.behind = f.behind[1:]
		return true, false, f.begin(ctx)
	}
	return false, true, f.event("end", "", said)
}

// begin finds which attempt's log is the newest, where none was asked for.
func (f *follower) begin(ctx context.Context) error {
	first, err := f.watch.Log(ctx, f.want.stream, f.want.attempt, f.want.offset)
	if err == nil {
		f.want.attempt = first.Attempt
	}
	return err
}

// sendPart sends the next part of the log. What it takes is acquired only while it is sent.
func (f *follower) sendPart(ctx context.Context) (progress, ended bool, err error) {
	part, err := f.watch.Log(ctx, f.want.stream, f.want.attempt, f.want.offset)
	if err != nil || len(part.Text) == 0 {
		return false, part != nil && part.Ended, err
	}
	hold := f.memory.Hold(budget.Share{Org: f.r.caller.Org})
	if err := hold.Acquire(ctx, streamBytes); err != nil {
		return false, false, err
	}
	defer hold.Release()
	f.want.offset = part.End
	if f.whole {
		return true, false, f.write(stagedEvent(f.want.stream, part))
	}
	return true, false, f.write(part.Sent(logEvent))
}

// logEvent is what those are sent who read a part of a log.
func logEvent(part *runs.LogPart) []byte {
	said := api.LogBytes{Attempt: part.Attempt, Offset: part.Offset, Bytes: part.Text}
	event, err := sentEvent("log", fmt.Sprintf("%d:%d", part.Attempt, part.End), said)
	if err != nil {
		panic(err) // bytes and numbers have a JSON
	}
	return event
}

// stagedEvent is logEvent in a stream that has the logs of all stages.
func stagedEvent(stage runs.Stream, part *runs.LogPart) []byte {
	said := api.LogBytes{Attempt: part.Attempt, Offset: part.Offset, Bytes: part.Text, Stage: string(stage)}
	event, err := sentEvent("log", fmt.Sprintf("%s:%d:%d", stage, part.Attempt, part.End), said)
	if err != nil {
		panic(err) // bytes and numbers have a JSON
	}
	return event
}

func statusOf(run runs.Run) api.RunStatus {
	return api.RunStatus{Status: string(run.Status), Phase: string(run.Phase), Attempt: run.Attempt, Reason: run.Reason}
}
