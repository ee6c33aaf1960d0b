package handlers

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/insight"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/internal/turns"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/runs"
)

// runHandlers serves runs to people, and to those who execute them.
type runHandlers struct {
	service  *runs.Service
	insights *insight.Service
	lists    lists
	memory   *budget.Budget // nil for no bound
	stopping <-chan struct{}
	log      *slog.Logger
	// streams are the places of those who are sent logs as they come, waits of those who execute
	// runs and wait for something.
	streams, waits *turns.Turns
}

func (d Deps) runHandlers() runHandlers {
	return runHandlers{
		service: d.Runs, insights: d.Insights, lists: lists{d.Limits.Memory}, memory: d.Limits.Memory,
		stopping: d.Stopping, log: d.Log,
		streams: turns.New(maxStreams, maxOwnStreams), waits: turns.New(maxWaits, maxOwnWaits),
	}
}

// maxRunOrderBytes is the largest order of a run: one may name many resources.
const maxRunOrderBytes = 512 << 10

// on refuses where the server keeps no runs.
func (h runHandlers) on(c *gin.Context) {
	if h.service == nil {
		middleware.Fail(c, fault.New(fault.RunsOff, "this server keeps no runs"))
	}
}

// run reads the run's ID from the path.
func (r *request) run() string {
	id := r.inPath("id")
	if !runs.IsID(id) {
		r.check(fault.New(fault.RunInvalid, "this is no ID of a run: one has 26 digits and capital letters"))
		return ""
	}
	r.annotate(slog.String("run", id))
	return id
}

// runObject reads the body as one JSON object; none at all is an empty one.
func runObject[T any](r *request) (v T) {
	if len(r.body()) == 0 {
		return v
	}
	return objectOr[T](r, fault.RunInvalid)
}

// create makes a run.
func (h runHandlers) create(ctx context.Context, r *request) (answer, error) {
	order, key := objectOr[api.RunOrder](r, fault.RunInvalid), r.idempotencyKey()
	if err := r.err(); err != nil {
		return nil, err
	}
	run, err := h.service.Create(ctx, r.caller, order, key)
	return told{status: http.StatusCreated, body: run.Wire()}, err
}

// retry makes a run like one that has ended.
func (h runHandlers) retry(ctx context.Context, r *request) (answer, error) {
	id, key := r.run(), r.idempotencyKey()
	runObject[struct{}](r)
	if err := r.err(); err != nil {
		return nil, err
	}
	run, err := h.service.Retry(ctx, r.caller, id, key)
	return told{status: http.StatusCreated, body: run.Wire()}, err
}

// maxKey is how long an Idempotency-Key may be.
const maxKey = 255

// idempotencyKey reads the request's key; empty without one.
func (r *request) idempotencyKey() string {
	key, err := idempotencyKey(r.header)
	r.check(err)
	visible := func(c rune) bool { return c > ' ' && c <= '~' }
	if len(key) > maxKey || strings.ContainsFunc(key, func(c rune) bool { return !visible(c) }) {
		r.check(fault.New(fault.IdempotencyInvalid, "the Idempotency-Key is not 1 to %d visible ASCII characters", maxKey))
	}
	return key
}

// list lists runs, the newest first.
func (h runHandlers) list(ctx context.Context, r *request) (answer, error) {
	q := runs.Query{Workspace: r.filled("workspace"), Kind: runs.Kind(r.filled("kind")), Status: r.statuses()}
	if q.Kind != "" && !slices.Contains(runs.Kinds(), q.Kind) {
		r.invalid("the query's kind is none of runs")
	}
	r.cursor(func(text string) bool { q.Before = text; return runs.IsID(text) })
	q.Limit = r.limit()
	return h.lists.answer(ctx, r, rowsBytes(q.Limit), func() (listing, error) {
		page, err := h.service.List(ctx, r.caller, q)
		return listingOf(api.Runs{Runs: []api.Run{}, Next: orNull(page.Next)}, "runs", page.Runs, runs.Run.Brief), err
	})
}

// statuses reads those that are asked for, apart by commas; nil for all.
func (r *request) statuses() (all []runs.Status) {
	text := r.filled("status")
	if text == "" {
		return nil
	}
	for name := range strings.SplitSeq(text, ",") {
		status := runs.Status(name)
		if !slices.Contains(runs.Statuses(), status) {
			r.invalid("the query's status is none of runs; there may be several, apart by commas")
			return nil
		}
		all = append(all, status)
	}
	return all
}

// show describes a run, with what its executors have said.
func (h runHandlers) show(ctx context.Context, r *request) (answer, error) {
	id := r.run()
	return h.lists.answer(ctx, r, runAnswerBytes, func() (listing, error) {
		run, err := h.service.Get(ctx, r.caller, id)
		said := run.Wire()
		if err == nil {
			said.Asks = h.service.Asks(r.caller, run)
		}
		return listing{answer: said, takes: run.Bytes()}, err
	})
}

// runAnswerBytes is what an answer usually takes that is one run: as it is kept, and as JSON.
const runAnswerBytes = 512 << 10

// events lists what happened to a run, in order.
func (h runHandlers) events(ctx context.Context, r *request) (answer, error) {
	id, after, limit := r.run(), int64(r.count("after")), r.limit()
	return h.lists.answer(ctx, r, rowsBytes(limit), func() (listing, error) {
		found, err := h.service.Events(ctx, r.caller, id, after, limit)
		said := api.RunEvents{Events: []api.RunEvent{}}
		if len(found) == limit {
			said.Next = &found[limit-1].Sequence
		}
		return listingOf(said, "events", found, runs.Event.Wire), err
	})
}

// changes sends what a run's plan would change, as it was kept.
func (h runHandlers) changes(ctx context.Context, r *request) (answer, error) {
	id := r.run()
	if err := r.err(); err != nil {
		return nil, err
	}
	content, err := h.service.Changes(ctx, r.caller, id)
	if err != nil {
		return nil, err
	}
	return h.pieces(r, streamed{mediaJSON + "; charset=utf-8", func(to io.Writer) error {
		_, err := io.Copy(to, content)
		return err
	}, nil}), nil
}

// insight sends what a run's plan means.
func (h runHandlers) insight(ctx context.Context, r *request) (answer, error) {
	id := r.run()
	if err := r.err(); err != nil {
		return nil, err
	}
	raw, err := h.insights.OfRun(ctx, r.caller, id)
	if err != nil {
		return nil, err
	}
	return h.pieces(r, streamed{mediaJSON + "; charset=utf-8", func(to io.Writer) error {
		_, err := to.Write(raw)
		return err
	}, nil}), nil
}

// outputs sends what a run's apply has left behind. It is there as it was kept, as it was read, and
// twice as JSON, in buffers that grow.
func (h runHandlers) outputs(ctx context.Context, r *request) (answer, error) {
	id := r.run()
	return h.lists.answer(ctx, r, 6*runs.MaxOutputs, func() (listing, error) {
		found, err := h.service.Outputs(ctx, r.caller, id)
		all := found.Outputs
		found.Outputs = []api.RunOutput{}
		l := listOf(found, "outputs", all, partBytes, func(o api.RunOutput) api.RunOutput { return o })
		for _, o := range all {
			l.takes += int64(len(o.Name) + len(o.Type) + len(o.Value))
		}
		return l, err
	})
}

// approve says yes to a plan.
func (h runHandlers) approve(ctx context.Context, r *request) (answer, error) {
	return h.decide(r, func(id string, d api.Decision) (runs.Run,
		error) {
		return h.service.Approve(ctx, r.caller, id, d)
	})
}

// deny says no to a plan.
func (h runHandlers) deny(ctx context.Context, r *request) (answer, error) {
	return h.decide(r, func(id string, d api.Decision) (runs.Run, error) { return h.service.Deny(ctx, r.caller, id, d) })
}

func (h runHandlers) decide(r *request, decide func(string, api.Decision) (runs.Run, error)) (answer, error) {
	id, d := r.run(), objectOr[api.Decision](r, fault.RunInvalid)
	d.Reason = r.mayHaveReason(d.Reason)
	if err := r.err(); err != nil {
		return nil, err
	}
	run, err := decide(id, d)
	return tell(run.Wire()), err
}

// mayHaveReason checks a reason that the body may give.
func (r *request) mayHaveReason(text string) string {
	text, err := mayHaveReason(text)
	r.check(err)
	return text
}

// cancel ends a run.
func (h runHandlers) cancel(ctx context.Context, r *request) (answer, error) {
	id, o := r.run(), runObject[api.CancelOrder](r)
	o.Reason = r.mayHaveReason(o.Reason)
	if err := r.err(); err != nil {
		return nil, err
	}
	run, err := h.service.Cancel(ctx, r.caller, id, o)
	return tell(run.Wire()), err
}

// discard ends a run whose plan nobody wants.
func (h runHandlers) discard(ctx context.Context, r *request) (answer, error) {
	id, o := r.run(), runObject[api.ResolveOrder](r)
	o.Reason = r.mayHaveReason(o.Reason)
	if err := r.err(); err != nil {
		return nil, err
	}
	run, err := h.service.Discard(ctx, r.caller, id, o.Reason)
	return tell(run.Wire()), err
}

// resolve ends a run whose executor was lost while it applied.
func (h runHandlers) resolve(ctx context.Context, r *request) (answer, error) {
	id, o := r.run(), objectOr[api.ResolveOrder](r, fault.RunInvalid)
	reason, err := needsReason(o.Reason)
	r.check(err)
	if err := r.err(); err != nil {
		return nil, err
	}
	run, err := h.service.Resolve(ctx, r.caller, id, reason)
	return tell(run.Wire()), err
}

// pieces is an answer of pieces of a store's.
func (h runHandlers) pieces(r *request, s streamed) answer {
	return inPieces(r, h.memory, pieceBytes, s)
}

// attempt reads the number of a run's attempt from the path.
func (r *request) attempt() int {
	n, err := strconv.ParseUint(r.inPath("attempt"), 10, 31)
	if err != nil || n == 0 {
		r.check(fault.New(fault.RunInvalid, "an attempt is a number of 1 or more"))
	}
	return int(n)
}
