package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/runs"
)

const (
	// heartbeat is how often something is sent at least, so that nobody in between takes the
	// connection for dead.
	heartbeat = 15 * time.Second
	// streamBytes is what a stream takes in memory while it sends something.
	streamBytes = 1 << 20
	// A server sends as many streams at once, and as many of them to one organization.
	maxStreams, maxOwnStreams = 1000, 200
)

// stream sends a run's log as it comes, and what becomes of the run, as server-sent events.
func (h runHandlers) stream(ctx context.Context, r *request) (answer, error) {
	want := r.wanted()
	fixed := want.attempt != 0
	if last := r.header.Get("Last-Event-ID"); last != "" {
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

	watch   *runs.Watch
	c       *gin.Context
	control *http.ResponseController
	status  api.RunStatus // that was sent last
	sentAt  time.Time
	checked time.Time // when the reader's credentials were looked at last
}

func (f *follower) send(c *gin.Context) error {
	release, ok := f.streams.TryAcquire(f.r.caller.Org)
	if !ok {
		return errCrowded("streams of logs are being sent")
	}
	defer release()
	ctx, stop := f.untilStop(c.Request.Context())
	defer stop()
	watch, err := f.service.Watch(ctx, f.r.caller, f.want.id)
	if err != nil {
		return err
	}
	defer watch.Close()
	f.watch = watch
	first, err := f.watch.Log(ctx, f.want.stream, f.want.attempt, f.want.offset)
	if err != nil {
		return err
	}
	f.want.attempt = first.Attempt
	middleware.Leave(c)
	middleware.Resumable(c)
	f.begin(c)
	if err := f.follow(ctx); err != nil && ctx.Err() == nil {
		// The reader comes again, and goes on behind what it has.
		_ = c.Error(err)
		panic(http.ErrAbortHandler)
	}
	return nil
}

func (f *follower) begin(c *gin.Context) {
	f.c, f.control = c, http.NewResponseController(c.Writer)
	header := c.Writer.Header()
	header.Set("Content-Type", "text/event-stream; charset=utf-8")
	header.Set("X-Accel-Buffering", "no") // some proxies keep back what comes slowly
	c.Status(http.StatusOK)
	c.Writer.WriteHeaderNow()
	f.checked = time.Now()
}

// follow sends what there is, and waits for more until nothing can follow.
func (f *follower) follow(ctx context.Context) error {
	timer := time.NewTimer(heartbeat)
	defer timer.Stop()
	for {
		more := f.watch.Next()
		progress, over, err := f.look(ctx)
		if err != nil || over {
			return err
		}
		if err := f.stillThere(ctx); err != nil {
			return err
		}
		if progress {
			continue
		}
		timer.Reset(time.Until(f.sentAt.Add(heartbeat)))
		select {
		case <-more:
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
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
	return false, true, f.event("end", "", said)
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

// event sends one, of which the body is JSON in one line.
func (f *follower) event(name, id string, body any) error {
	event, err := sentEvent(name, id, body)
	if err != nil {
		return err
	}
	return f.write(event)
}

func sentEvent(name, id string, body any) ([]byte, error) {
	raw, err := json.Marshal(body)
	head := "event: " + name + "\n"
	if id != "" {
		head += "id: " + id + "\n"
	}
	return slices.Concat([]byte(head+"data: "), raw, []byte("\n\n")), err
}

func (f *follower) write(event []byte) error {
	middleware.GoOn(f.c)
	f.sentAt = time.Now()
	if _, err := f.c.Writer.Write(event); err != nil {
		return err
	}
	return f.control.Flush()
}

// stillThere sends a heartbeat where it is time, and lets nobody read on whose credentials are
// good no more.
func (f *follower) stillThere(ctx context.Context) error {
	now := time.Now()
	if now.Sub(f.checked) >= heartbeat {
		f.checked = now
		if err := middleware.StillGood(f.c); err != nil {
			return err
		}
		if err := f.watch.Allowed(ctx, middleware.Principal(f.c)); err != nil {
			return err
		}
	}
	if now.Sub(f.sentAt) < heartbeat {
		return nil
	}
	return f.write([]byte(": still there\n\n"))
}

func statusOf(run runs.Run) api.RunStatus {
	return api.RunStatus{Status: string(run.Status), Phase: string(run.Phase), Attempt: run.Attempt, Reason: run.Reason}
}
