package statetest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
)

// Alternately returns a store whose calls take turns at the given ones, as requests do behind a
// load balancer: they are nodes that share what is below them.
func Alternately(nodes ...state.Store) state.Store { return &alternating{nodes: nodes} }

type alternating struct {
	nodes []state.Store
	calls atomic.Uint64
}

func (a *alternating) next() state.Store {
	return a.nodes[a.calls.Add(1)%uint64(len(a.nodes))]
}

func (a *alternating) Current(ctx context.Context, ref state.Ref) (state.Snapshot, error) {
	return a.next().Current(ctx, ref)
}

func (a *alternating) Head(ctx context.Context, ref state.Ref) (state.Head, error) {
	return a.next().Head(ctx, ref)
}

func (a *alternating) Version(ctx context.Context, ref state.Ref, number uint64) (state.Snapshot, error) {
	return a.next().Version(ctx, ref, number)
}

func (a *alternating) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	return a.next().Update(ctx, ref, body, decide)
}

func (a *alternating) Purge(ctx context.Context, ref state.Ref, number uint64, event audit.Event) error {
	return a.next().Purge(ctx, ref, number, event)
}

func (a *alternating) Prune(ctx context.Context, ref state.Ref, p state.Pruning, event audit.Event) (int, error) {
	return a.next().Prune(ctx, ref, p, event)
}

func (a *alternating) Expunge(ctx context.Context, ref state.Ref, before time.Time, limit int,
	event audit.Event) (bool, error) {
	return a.next().Expunge(ctx, ref, before, limit, event)
}

func (a *alternating) Shred(ctx context.Context, org uuid.UUID, limit int) (int, error) {
	return a.next().Shred(ctx, org, limit)
}

func (a *alternating) PruneEvents(ctx context.Context, org uuid.UUID, before time.Time, limit int,
	event audit.Event) (int, error) {
	return a.next().PruneEvents(ctx, org, before, limit, event)
}

func (a *alternating) Record(ctx context.Context, event audit.Event) error {
	return a.next().Record(ctx, event)
}

func (a *alternating) States(ctx context.Context, org uuid.UUID, q state.StatesQuery) (state.Page, error) {
	return a.next().States(ctx, org, q)
}

func (a *alternating) Names(ctx context.Context, org uuid.UUID, prefix string, after state.Name,
	limit int) ([]state.Name, state.Name, error) {
	return a.next().Names(ctx, org, prefix, after, limit)
}

func (a *alternating) Versions(ctx context.Context, ref state.Ref, before uint64, limit int) ([]state.Version, error) {
	return a.next().Versions(ctx, ref, before, limit)
}

func (a *alternating) Candidates(ctx context.Context, ref state.Ref, after string,
	limit int) ([]state.Candidate, error) {
	return a.next().Candidates(ctx, ref, after, limit)
}

func (a *alternating) Candidate(ctx context.Context, ref state.Ref, id string) (state.CandidateBody, error) {
	return a.next().Candidate(ctx, ref, id)
}

func (a *alternating) Events(ctx context.Context, org uuid.UUID, q audit.Query) (audit.Page, error) {
	return a.next().Events(ctx, org, q)
}

func (a *alternating) Feed(ctx context.Context, after uint64, limit int) ([]audit.Event, error) {
	return a.next().Feed(ctx, after, limit)
}

func (a *alternating) Chain(ctx context.Context, org uuid.UUID, from uint64,
	limit int) (audit.Chain, []audit.Link, error) {
	return a.next().Chain(ctx, org, from, limit)
}

func (a *alternating) All(ctx context.Context, after state.Ref, limit int) ([]state.Located, error) {
	return a.next().All(ctx, after, limit)
}

func (a *alternating) Usage(ctx context.Context, org uuid.UUID) (int64, error) {
	return a.next().Usage(ctx, org)
}

func (a *alternating) Totals(ctx context.Context) (state.Totals, error) { return a.next().Totals(ctx) }

func (a *alternating) Ready(ctx context.Context) error { return a.next().Ready(ctx) }

func (a *alternating) Close() error {
	var all []error
	for _, node := range a.nodes {
		all = append(all, node.Close())
	}
	return errors.Join(all...)
}
