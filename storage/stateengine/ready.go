package stateengine

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast/holdfast/fault"
)

const (
	// ReadyFor is how long a probe's result holds.
	ReadyFor     = time.Second     // how long a probe's result holds
	probeTimeout = 5 * time.Second // after which a store counts as hung
)

// Readiness is the result of the last probe. Make it with NewReadiness.
type Readiness struct {
	turn chan struct{} // has one token; who took it may use the rest
	at   time.Time     // zero before the first probe
	err  error
}

// NewReadiness returns one that knows nothing yet.
func NewReadiness() *Readiness {
	turn := make(chan struct{}, 1)
	turn <- struct{}{}
	return &Readiness{turn: turn}
}

// Ask probes the store, at most once a second however many ask.
func (r *Readiness) Ask(ctx context.Context, now func() time.Time, probe func(context.Context) error) error {
	select {
	case <-r.turn:
		defer func() { r.turn <- struct{}{} }()
	case <-ctx.Done():
		return ctx.Err()
	}
	at := now()
	if age := at.Sub(r.at); r.at.IsZero() || age < 0 || age >= ReadyFor {
		// Without the caller's context: others get this result too.
		r.at, r.err = at, inTime(context.WithoutCancel(ctx), probe)
	}
	return r.err
}

func inTime(ctx context.Context, probe func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	err := probe(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.Wrap(err, fault.StoreUnavailable, "the store has not answered for %v", probeTimeout)
	}
	return err
}
