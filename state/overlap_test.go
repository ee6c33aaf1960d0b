package state_test

import (
	"context"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// outrun lets another call come between what a call has read and what it records.
type outrun struct {
	state.Store
	by func()
}

func (s *outrun) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	if by := s.by; by != nil {
		s.by = nil
		by()
	}
	return s.Store.Update(ctx, ref, body, decide)
}

// Two that say the same at once are both told yes, as one is who says it twice.
func TestOverlappingRetries(t *testing.T) {
	for name, call := range map[string]func(*bench, string) error{
		"discard": func(b *bench, id string) error { return b.Discard(b.t.Context(), b.owner, "x", id, "wrong") },
		"promote": func(b *bench, id string) error {
			_, err := b.Promote(b.t.Context(), b.owner, "x", id, state.Decision{Reason: "meant"})
			return err
		},
		"promote anyway": func(b *bench, id string) error {
			_, err := b.Promote(b.t.Context(), b.owner, "x", id, state.Decision{Reason: "meant", Anyway: true})
			return err
		},
		"rollback": func(b *bench, _ string) error { _, err := b.rollback(1, ""); return err },
		"write":    func(b *bench, _ string) error { return b.put(numbered(9), "") },
		"bring": func(b *bench, _ string) error {
			_, err := b.AddCandidate(b.t.Context(), b.owner, "x", []byte(numbered(8)), "")
			return err
		},
		"delete": func(b *bench, _ string) error { return b.Delete(b.t.Context(), b.owner, "x", "") },
		"undelete": func(b *bench, _ string) error {
			_, err := b.Undelete(b.t.Context(), b.owner, "x")
			return err
		},
		"purge": func(b *bench, _ string) error { return b.Purge(b.t.Context(), b.owner, "x", 1, "a leak") },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(*state.Policy) {})
			b.must(b.put(numbered(1), ""), b.put(numbered(2), ""))
			made, err := b.AddCandidate(t.Context(), b.owner, "x", []byte(numbered(3)), "")
			b.must(err)
			if name == "undelete" {
				b.must(b.Delete(t.Context(), b.owner, "x", ""))
			}
			first := *b
			b.over(&outrun{Store: b.store, by: func() { first.must(call(&first, made.ID)) }})
			b.must(call(b, made.ID))
			b.must(call(b, made.ID))
			if versions, err := b.Versions(t.Context(), b.owner, "x", 0, 9); err != nil || len(versions) > 3 {
				t.Errorf("%d versions, %v; want it done once", len(versions), err)
			}
		})
	}
}

// What somebody else has decided meanwhile is not what was asked for.
func TestOverlappingOpposites(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	b.must(b.put(numbered(1), ""))
	made, err := b.AddCandidate(t.Context(), b.owner, "x", []byte(numbered(3)), "")
	b.must(err)
	promote := func(b *bench, d state.Decision) error {
		_, err := b.Promote(t.Context(), b.owner, "x", made.ID, d)
		return err
	}
	first := *b
	b.over(&outrun{Store: b.store, by: func() { first.must(promote(&first, state.Decision{Reason: "meant"})) }})
	b.refuses(fault.CandidateSettled, b.Discard(t.Context(), b.owner, "x", made.ID, "wrong"))
}

// Who promotes anyway means also over what is written in this very moment.
func TestPromoteAnywayOverAWriteThatComesBetween(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	b.must(b.put(numbered(1), ""))
	made, err := b.AddCandidate(t.Context(), b.owner, "x", []byte(numbered(3)), "")
	b.must(err)
	for i, anyway := range []bool{false, true} {
		first := *b
		first.over(b.store)
		b.over(&outrun{Store: b.store, by: func() { first.must(first.put(numbered(4+i), "")) }})
		_, err := b.Promote(t.Context(), b.owner, "x", made.ID, state.Decision{Reason: "meant", Anyway: anyway})
		if !anyway {
			b.refuses(fault.CandidateStale, err)
			continue
		}
		b.must(err)
	}
}
