package stateengine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/bench/sample"
	"github.com/holdfast/holdfast/state"
)

// history is a state whose versions are stored as Bodies say.
type history struct {
	bodies  *Bodies
	ref     state.Ref
	newest  state.Snapshot
	base    Stored // the newest that is stored whole
	deltas  int
	looking int // how often a base was looked up
}

// newHistory has no body of a base in memory, and lends the newest version.
func newHistory(t *testing.T) *history {
	h := &history{ref: state.Ref{Org: uuid.New(), Name: "s"}}
	var err error
	h.bodies, err = NewBodies(func(context.Context, state.Ref, int, int) (*Found, error) { h.looking++; return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.bodies.Close)
	h.bodies.Bases = NewBareBases(1 << 20)
	h.bodies.Lend(func(ref state.Ref) (state.Snapshot, bool) { return h.newest, h.newest.Body != nil && ref == h.ref })
	return h
}

// put stores a version, and wants its bytes back.
func (h *history) put(t *testing.T, body []byte) {
	t.Helper()
	u := &Update{Ref: h.ref, Size: len(body)}
	u.Body, u.From = h.bodies.Encode(t.Context(), h.ref, body)
	v := state.Version{Number: h.newest.Number + 1, Size: int64(len(body)), Digest: sha256.Sum256(body)}
	if u.From == nil {
		h.base = u.Body
	} else {
		h.deltas++
	}
	if got, err := h.bodies.Codec.Decode(v, u.Body, h.base); err != nil || !bytes.Equal(got, body) {
		t.Fatalf("version %d: %d bytes came back, %v; want %d", v.Number, len(got), err, len(body))
	}
	u.Head.Version, u.Row = v, int64(v.Number)
	h.bodies.Learn(u, body)
	h.newest = state.Snapshot{Version: v, Body: body}
}

// TestGoOn: with the newest version in memory no base is read, and every group has one.
func TestGoOn(t *testing.T) {
	h, s := newHistory(t), sample.NewState(50_000, 1)
	for range 2*GroupLength + 3 {
		h.put(t, bytes.Clone(s.Bytes()))
		s.Change()
	}
	if h.looking != 1 || h.deltas != 2*GroupLength {
		t.Errorf("bases were looked up %d times, and there are %d deltas", h.looking, h.deltas)
	}
}

// TestGoOnFromAnother: what is lent, and is not what the steps lead to, is of no use, nor is nothing.
func TestGoOnFromAnother(t *testing.T) {
	for name, lent := range map[string]func(*history){
		"nothing": func(h *history) { h.newest.Body = nil },
		"another": func(h *history) {
			h.newest.Body = append(bytes.Clone(h.newest.Body), ' ')
			h.newest.Digest = sha256.Sum256(h.newest.Body)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, s := newHistory(t), sample.NewState(50_000, 1)
			h.put(t, bytes.Clone(s.Bytes()))
			s.Change()
			h.put(t, bytes.Clone(s.Bytes()))
			s.Change()
			lent(h)
			h.put(t, bytes.Clone(s.Bytes()))
			if h.looking != 2 || h.deltas != 1 {
				t.Errorf("bases were looked up %d times, and there are %d deltas", h.looking, h.deltas)
			}
		})
	}
}

// TestGoOnWhereNothingIsAlike looks for no base that is the newest version, which was compared already.
func TestGoOnWhereNothingIsAlike(t *testing.T) {
	h := newHistory(t)
	for seed := range uint64(3) {
		h.put(t, sample.NewState(50_000, seed).Bytes())
	}
	if h.looking != 1 {
		t.Errorf("bases were looked up %d times", h.looking)
	}
}
