package enginetest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
)

// Planted is what nothing but an opened state may have.
const Planted = "hunter2-hunter2-hunter2"

// World is what a store has: versions by state, from the first, and candidates that are open.
type World struct {
	Versions   map[state.Ref][][]byte
	Candidates map[state.Ref]state.CandidateBody
}

// Body is a state that looks like no other, with a secret in it.
func Body(ref state.Ref, number int) []byte {
	return fmt.Appendf(nil, `{"version":4,"serial":%d,"of":%q,"password":"%s-%d","filler":"%s"}`, number, ref, Planted,
		number, bytes.Repeat([]byte("abcdefghij"), 60))
}

// Describe returns what a store is told of a body.
func Describe(body []byte) state.Version {
	return state.Version{Serial: 1, Size: int64(len(body)), Digest: sha256.Sum256(body), CreatedAt: time.Now()}
}

// Populate gives a store two states of each organization, with four versions and a candidate each.
func Populate(t testing.TB, s state.Store, orgs ...uuid.UUID) *World {
	t.Helper()
	w := &World{Versions: map[state.Ref][][]byte{}, Candidates: map[state.Ref]state.CandidateBody{}}
	for _, org := range orgs {
		for _, name := range []state.Name{"prod/a", "prod/b"} {
			ref := state.Ref{Org: org, Name: name}
			for range 4 {
				w.Put(t, s, ref)
			}
			w.Bring(t, s, ref)
		}
	}
	return w
}

// Put gives a state its next version.
func (w *World) Put(t testing.TB, s state.Store, ref state.Ref) {
	t.Helper()
	body := Body(ref, len(w.Versions[ref])+1)
	put(t, s, ref, body)
	w.Versions[ref] = append(w.Versions[ref], body)
}

func put(t testing.TB, s state.Store, ref state.Ref, body []byte) {
	t.Helper()
	_, err := s.Update(t.Context(), ref, body, func(h state.Head) (state.Change, error) {
		next := Describe(body)
		next.Number = h.Version.Number + 1
		return state.Change{Version: &next}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Bring gives a state a candidate.
func (w *World) Bring(t testing.TB, s state.Store, ref state.Ref) {
	t.Helper()
	body := Body(ref, 99)
	c := state.Candidate{ID: "c1", Version: Describe(body), Source: state.Pushed, Status: state.Open,
		Content: sha256.Sum256(body)}
	c.Version.Number = uint64(len(w.Versions[ref]))
	_, err := s.Update(t.Context(), ref, body, func(state.Head) (state.Change, error) {
		return state.Change{Candidate: &c}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Candidates[ref] = state.CandidateBody{Candidate: c, Body: body}
}

// Check wants each body that the store returns to be the very one. Where all is set, it wants all of them. It
// returns how many were refused.
func (w *World) Check(t testing.TB, s state.Store, all bool) (refused int) {
	t.Helper()
	look := func(what any, want, got []byte, err error) {
		switch {
		case err == nil && !bytes.Equal(got, want):
			t.Fatalf("%v: %q was returned for %q", what, got, want)
		case err != nil && all:
			t.Fatalf("%v: %v", what, err)
		case err != nil:
			refused++
		}
	}
	for ref, bodies := range w.Versions {
		for i, want := range bodies {
			got, err := s.Version(t.Context(), ref, uint64(i+1))
			look(fmt.Sprint(ref, i+1), want, got.Body, err)
		}
		got, err := s.Current(t.Context(), ref)
		if err != nil || bytes.Equal(got.Body, bodies[len(bodies)-1]) {
			look(ref, bodies[len(bodies)-1], got.Body, err)
		} else if !slices.ContainsFunc(bodies, func(b []byte) bool { return bytes.Equal(b, got.Body) }) {
			t.Fatalf("%v: %q is none of its versions", ref, got.Body) // an older one can't be told from a restored backup
		}
		want, some := w.Candidates[ref]
		if !some {
			continue
		}
		one, err := s.Candidate(t.Context(), ref, want.ID)
		if err == nil && one.Status != state.Open {
			continue
		}
		look(fmt.Sprint(ref, " candidate"), want.Body, one.Body, err)
	}
	return refused
}
