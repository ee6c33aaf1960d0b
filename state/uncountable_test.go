package state_test

import (
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

func holding(p *state.Policy) { p.Guards = state.GuardsHold }

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
		b.must(b.put(junk, ""), b.put(`{"version":3,"serial":3,"lineage":"L","modules":[]}`, ""), b.put(instances(4, 1), ""))
		b = newBench(t, holding)
		b.must(b.put(junk, ""), b.Purge(t.Context(), b.owner, "x", 1, "a leak"), b.put(instances(3, 0), ""))
	}
}

// A body in which nothing can be counted is no way around the guards: neither it nor what
// follows it loses resources unseen.
func TestGuardsSeeWhatCannotBeCounted(t *testing.T) {
	for _, junk := range plainJunk() {
		b := newBench(t, holding)
		b.must(b.put(instances(1, 4), ""))
		b.refuses(fault.WriteHeld, b.put(junk, ""))

		b = newBench(t, func(*state.Policy) {})
		b.must(b.put(instances(1, 4), ""), b.put(junk, ""))
		b.finds(state.WarnEmptied)
		b.must(b.put(instances(3, 0), ""))
		b.finds(state.WarnEmptied)
		b.must(b.put(instances(4, 4), ""))
		b.finds(0)
		b.must(b.put(instances(5, 1), ""))
		b.finds(state.WarnShrunk)
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
