package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/runs"
)

const (
	// lookAgain is how often the reader of a stream is looked after though nobody has told that
	// the run has changed: another server may have changed it.
	lookAgain = 500 * time.Millisecond
	// heartbeat is how often something is sent at least, so that nobody in between takes the
	// connection for dead.
	heartbeat = 15 * time.Second
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
	first, err := h.piece(ctx, r.caller, want)
	if err != nil {
		return nil, err
	}
	want.attempt = first.Attempt
	return &follower{runHandlers: h, r: r, want: want, fixed: fixed}, nil
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

	c       *gin.Context
	control *http.ResponseController
	status  api.RunStatus // that was sent last
	sentAt  time.Time
	checked time.Time // when the reader's credentials were looked at last
}

func (f *follower) send(c *gin.Context) error {
	ctx, stop := f.untilStop(c.Request.Context())
	defer stop()
	next, unwatch, err := f.service.Watch(ctx, f.r.caller, f.want.id)
	if err != nil {
		return err
	}
	defer unwatch()
	middleware.Leave(c)
	f.begin(c)
	if err := f.follow(ctx, next); err != nil && ctx.Err() == nil {
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
func (f *follower) follow(ctx context.Context, next func() <-chan struct{}) error {
	for {
		changed := next()
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
		select {
		case <-changed:
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// look sends what has come since. over says that nothing will follow.
func (f *follower) look(ctx context.Context) (progress, over bool, err error) {
	run, err := f.service.Get(ctx, f.r.caller, f.want.id)
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
	progress, ended, err := f.sendPiece(ctx)
	if err != nil || !ended {
		return progress, false, err
	}
	if !f.fixed {
		newest, err := f.service.ReadLog(ctx, f.r.caller, f.want.id, f.want.stream, 0, 0, 1)
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

// sendPiece sends the next piece of the log. What it takes is acquired only while it is sent.
func (f *follower) sendPiece(ctx context.Context) (progress, ended bool, err error) {
	hold := f.memory.Hold(budget.Share{Org: f.r.caller.Org})
	if err := hold.Acquire(ctx, pieceBytes); err != nil {
		return false, false, err
	}
	defer hold.Release()
	piece, err := f.piece(ctx, f.r.caller, f.want)
	if err != nil || len(piece.Text) == 0 {
		return false, piece.Ended, err
	}
	said := api.LogBytes{Attempt: piece.Attempt, Offset: f.want.offset, Bytes: piece.Text}
	f.want.offset = piece.End
	return true, false, f.event("log", fmt.Sprintf("%d:%d", piece.Attempt, piece.End), said)
}

// event sends one, of which the body is JSON in one line.
func (f *follower) event(name, id string, body any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	head := "event: " + name + "\n"
	if id != "" {
		head += "id: " + id + "\n"
	}
	return f.write([]byte(head+"data: "), raw, []byte("\n\n"))
}

func (f *follower) write(parts ...[]byte) error {
	middleware.GoOn(f.c)
	f.sentAt = time.Now()
	for _, part := range parts {
		if _, err := f.c.Writer.Write(part); err != nil {
			return err
		}
	}
	return f.control.Flush()
}

// stillThere sends a heartbeat where it is time, and lets nobody read on whose credentials are
// good no more.
func (f *follower) stillThere() error {
	now := time.Now()
	if now.Sub(f.checked) >= heartbeat {
		f.checked = now
		if err := middleware.StillGood(f.c); err != nil {
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
