package handlers

import (
	"cmp"
	"context"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/live"
	"github.com/holdfast/holdfast/middleware"
)

// liveHandlers tells what happens in an organization.
type liveHandlers struct {
	hub      *live.Hub
	stopping <-chan struct{}
}

// follow tells what changes, as it does, as server-sent events. A page that begins anew can't send the
// header, and says by a parameter what it had last.
func (h liveHandlers) follow(ctx context.Context, r *request) (answer, error) {
	last := cmp.Or(r.header.Get("Last-Event-ID"), r.filled("after"))
	if err := r.err(); err != nil {
		return nil, err
	}
	reader, err := h.hub.Follow(ctx, r.caller, last)
	if err != nil {
		return nil, err
	}
	return &liveStream{liveHandlers: h, reader: reader}, nil
}

// liveStream is an answer that goes on until the reader leaves or the server stops.
type liveStream struct {
	liveHandlers
	reader *live.Reader
	*eventStream
	told live.Position // that the reader was told last
}

func (s *liveStream) send(c *gin.Context) error {
	defer s.reader.Close()
	ctx, stop := untilStop(c.Request.Context(), s.stopping)
	defer stop()
	s.eventStream = beginEvents(c, func(p auth.Principal) error { s.reader.As(p); return nil })
	return s.end(ctx, s.follow(ctx))
}

func (s *liveStream) follow(ctx context.Context) error {
	if err := s.say("ready", s.reader.At(), struct{}{}); err != nil {
		return err
	}
	for {
		if err := s.stillGood(); err != nil {
			return err
		}
		batch, err := s.reader.Take(ctx)
		if err == nil {
			err = s.tell(batch)
		}
		if err == nil {
			err = s.stillThere()
		}
		if err == nil && batch.More != nil {
			err = s.wait(ctx, batch.More)
		}
		if err != nil {
			return err
		}
	}
}

// tell sends what has come. How far the reader is, it learns also where nothing was for it, with
// the next heartbeat at the latest: else it would begin far behind when it comes again.
func (s *liveStream) tell(batch live.Batch) error {
	if batch.Reset {
		return s.say("reset", batch.At, struct{}{})
	}
	for _, e := range batch.Events {
		if err := s.say("change", e.ID, changeOf(e.Event)); err != nil {
			return err
		}
	}
	if batch.More != nil && batch.At != s.told && s.idle() {
		return s.say("ready", batch.At, struct{}{})
	}
	return nil
}

func (s *liveStream) say(name string, at live.Position, body any) error {
	s.told = at
	return s.event(name, at.String(), body)
}

func changeOf(e live.Event) api.LiveChange {
	return api.LiveChange{
		Kind: string(e.Kind), Action: string(e.Action), Name: e.Name, Version: e.Version, At: e.At,
		Run: e.Run.ID, RunKind: string(e.Run.Kind), Status: string(e.Run.Status), Phase: string(e.Run.Phase),
	}
}

// routeLive routes what follows an organization.
func (d Deps) routeLive(all section, native gin.HandlerFunc, guard *middleware.Guard) {
	h := liveHandlers{d.Live, d.Stopping}
	about := op("followEvents", "What changes in the organization, as it does").
		with(textOf("after", "The `id` of the last event that the reader has; without it, what comes from now on is told."),
			headerOf("Last-Event-ID", "The same, as browsers send it.")).givesEvents().
		notes("Server-sent events: `change` has a LiveChange; `ready` says how far the reader is, and `reset` that it has "+
			"to read anew.").
		fails(fault.TooManyWaiting, fault.ParameterInvalid, fault.StoreUnavailable)
	all.tagged(tagCallers).route("GET", "/api/v1/events", about, h.follow, native, guard.States(nil), middleware.Admit(0))
}
