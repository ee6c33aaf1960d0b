package state_test

import (
	"context"
	"crypto/sha256"
	"testing"

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
	return `{"version":4,"serial":` + string(rune('0'+serial)) +
		`,"lineage":"L","resources":[{"mode":"managed","type":"t","name":"n","instances":` + text + `]}]}`
}

// before stores a body as a version of before there were guards: without a count.
func (b *bench) before(body string) {
	b.t.Helper()
	_, err := b.store.Update(b.t.Context(), state.Ref{Org: b.owner.Org, Name: "x"}, []byte(body),
		func(h state.Head) (state.Change, error) {
			return state.Change{At: b.now, Version: &state.Version{
				Number: h.Version.Number + 1, Serial: 1, Lineage: "L", Resources: -1,
				Size: int64(len(body)), Digest: sha256.Sum256([]byte(body)), CreatedAt: b.now,
			}}, nil
		})
	if err != nil {
		b.t.Fatal(err)
	}
}

func holding(p *state.Policy) { p.Guards = state.GuardsHold }

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

// plainJunk are bodies that are plain and in which nothing can be counted.
func plainJunk() []string {
	return []string{
		`{"serial":2,"lineage":"L"}`,
		`{"version":3,"serial":2,"lineage":"L","modules":[]}`,
		`{"version":4,"serial":2,"lineage":"L","resources":"x"}`,
		`{"version":4,"serial":2,"lineage":"L","encrypted_data":"x","resources":{}}`,
	}
}

// What can't be counted keeps nobody from writing resources, and what was destroyed nobody
// from writing at all.
func TestGuardsPassOverWhatCannotBeCounted(t *testing.T) {
	for _, junk := range plainJunk() {
		b := newBench(t, holding)
		b.before(junk)
		b.must(b.put(`{"version":3,"serial":3,"lineage":"L","modules":[]}`, ""), b.put(instances(4, 1), ""))
	}
	b := newBench(t, holding)
	b.before(instances(1, 4))
	b.must(b.Purge(t.Context(), b.owner, "x", 1, "a leak"), b.put(instances(2, 0), ""))
	b = newBench(t, holding)
	b.before(instances(1, 4))
	b.must(b.Purge(t.Context(), b.owner, "x", 1, "a leak"), b.put(plainJunk()[0], ""))
}

// A body in which nothing can be counted is no way around the guards: neither it nor what
// follows it loses resources unseen, whether the version before was counted or not.
func TestGuardsSeeWhatCannotBeCounted(t *testing.T) {
	for _, junk := range plainJunk() {
		for _, first := range []func(*bench) error{
			func(b *bench) error { return b.put(instances(1, 4), "") },
			func(b *bench) error { b.before(instances(1, 4)); return nil },
		} {
			b := newBench(t, holding)
			b.must(first(b))
			b.refuses(fault.WriteHeld, b.put(junk, ""))

			b = newBench(t, func(*state.Policy) {})
			b.must(first(b), b.put(junk, ""))
			b.finds(state.WarnEmptied)
			b.must(b.put(instances(3, 0), ""))
			b.finds(state.WarnEmptied)
			b.must(b.put(instances(4, 4), ""))
			b.finds(0)
			b.must(b.put(instances(5, 1), ""))
			b.finds(state.WarnShrunk)
		}
	}
}

// finds checks what was found in the newest version.
func (b *bench) finds(want state.Warnings) {
	b.t.Helper()
	head, err := b.store.Head(b.t.Context(), state.Ref{Org: b.owner.Org, Name: "x"})
	if err != nil || head.Version.Warnings != want {
		b.t.Errorf("in version %d: %q, %v; want %q", head.Version.Number, head.Version.Warnings, err, want)
	}
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
	if head, err := b.store.Head(t.Context(), state.Ref{Org: b.owner.Org, Name: "x"}); err != nil ||
		head.Version.Number != 1 {
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
