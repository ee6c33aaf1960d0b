package state_test

import (
	"context"
	"crypto/sha256"
	"testing"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// instances is a state with this many resource instances.
func instances(serial, n int) string {
	text := `[`
	for i := range n {
		if i > 0 {
			text += ","
		}
		text += `{"index_key":` + string(rune('0'+i)) + `}`
	}
	return `{"version":4,"serial":` + string(rune('0'+serial)) + `,"lineage":"L","resources":[{"mode":"managed","type":"t","name":"n","instances":` + text + `]}]}`
}

// before stores a body as a version of before there were guards: without a count.
func (b *bench) before(body string) {
	b.t.Helper()
	_, err := b.store.Update(b.t.Context(), state.Ref{Org: b.owner.Org, Name: "x"}, []byte(body), func(h state.Head) (state.Change, error) {
		return state.Change{At: b.now, Version: &state.Version{
			Number: h.Version.Number + 1, Serial: 1, Lineage: "L", Resources: -1,
			Size: int64(len(body)), Digest: sha256.Sum256([]byte(body)), CreatedAt: b.now,
		}}, nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

func holding(p *auth.Policy) { p.Guards = auth.GuardsHold }

// The guards see what the first write after an upgrade does, although the version before
// it was never counted.
func TestGuardsCountWhatWasNeverCounted(t *testing.T) {
	for name, test := range map[string]struct {
		next  string
		found state.Warnings
	}{
		"emptied": {instances(2, 0), state.WarnEmptied},
		"shrunk":  {instances(2, 1), state.WarnShrunk},
		"as many": {instances(2, 4), 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, holding)
			b.before(instances(1, 4))
			brought, err := b.AddCandidate(t.Context(), b.owner, "x", []byte(test.next), "")
			if err != nil || brought.Warnings != test.found {
				t.Errorf("a candidate: %q, %v; want %q", brought.Warnings, err, test.found)
			}
			err = b.put(test.next, "")
			if held := fault.Is(err, fault.WriteHeld); held != (test.found != 0) || !held && err != nil {
				t.Errorf("a write: %v; want it held for %q", err, test.found)
			}
		})
	}
}

// What can't be counted, or not any more, keeps nobody from writing.
func TestGuardsPassOverWhatCannotBeCounted(t *testing.T) {
	b := newBench(t, holding)
	b.before(`{"version":3,"serial":1,"lineage":"L","modules":[]}`)
	b.must(b.put(instances(2, 0), ""))

	b = newBench(t, holding)
	b.before(instances(1, 4))
	b.must(b.Purge(t.Context(), b.owner, "x", 1, "a leak"), b.put(instances(2, 0), ""))
}

// unreadable can't read bytes now.
type unreadable struct{ state.Store }

func (unreadable) Current(context.Context, state.Ref) (state.Snapshot, error) {
	return state.Snapshot{}, fault.New(fault.StoreUnavailable, "not now")
}

func (unreadable) Version(context.Context, state.Ref, uint64) (state.Snapshot, error) {
	return state.Snapshot{}, fault.New(fault.StoreUnavailable, "not now")
}

// A store that can't be read now is another matter: the guards don't give up on it.
func TestGuardsWaitForTheCount(t *testing.T) {
	b := newBench(t, holding)
	b.before(instances(1, 4))
	b.over(unreadable{b.store})
	b.refuses(fault.StoreUnavailable, b.put(instances(2, 0), ""))
	if head, err := b.store.Head(t.Context(), state.Ref{Org: b.owner.Org, Name: "x"}); err != nil || head.Version.Number != 1 {
		t.Errorf("version %d, %v; want 1", head.Version.Number, err)
	}
}

// overtaken has somebody else write an uncounted version just before each of its first
// updates.
type overtaken struct {
	state.Store
	b    *bench
	left int
}

func (o *overtaken) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	if o.left > 0 {
		o.left--
		o.b.before(instances(1, 4*(1-o.left))) // none, then four
	}
	return o.Store.Update(ctx, ref, body, decide)
}

// A count of one version says nothing about the next.
func TestGuardsCountTheVersionThatIsReplaced(t *testing.T) {
	b := newBench(t, holding)
	b.before(instances(1, 0))
	b.over(&overtaken{b.store, b, 2})
	b.refuses(fault.WriteHeld, b.put(instances(2, 0), ""))
}
