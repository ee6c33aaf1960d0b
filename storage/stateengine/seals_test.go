package stateengine

import (
	"io"
	"log/slog"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/seal/sealtest"
	"github.com/holdfast/holdfast/state"
)

// TestSealedOnce: what is sealed is not sealed again; what versions before had sealed twice opens all the same.
func TestSealedOnce(t *testing.T) {
	var s Seals
	s.Use(seal.New(seal.NewMaster(), &sealtest.Memory{}), slog.New(slog.NewTextHandler(io.Discard, nil)))
	s.Become(Sealed)
	ref, place := state.Ref{Org: uuid.New(), Name: "a"}, Place{Number: 7}
	e, err := s.Writing(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	plain := Stored{Encoding: EncodingRaw, Bytes: []byte("{}")}
	once, err := e.Seal(place, plain)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := e.Seal(place, once); err != nil || string(again.Bytes) != string(once.Bytes) {
		t.Errorf("it is sealed again, %v", err)
	}
	twice := once
	kind, name := e.bound(place, once.Encoding)
	if twice.Bytes, err = e.keys.Seal(kind, name, once.Bytes); err != nil {
		t.Fatal(err)
	}
	twice.Encoding = sealedPrefix + once.Encoding
	for what, kept := range map[string]Stored{"once": once, "twice": twice} {
		got, err := e.Open(place, kept)
		if err != nil || got.Encoding != plain.Encoding || string(got.Bytes) != "{}" {
			t.Errorf("%s: %s %q, %v", what, got.Encoding, got.Bytes, err)
		}
	}
	twice.Encoding = sealedPrefix + twice.Encoding
	if got, err := e.Open(place, twice); err == nil {
		t.Errorf("opened %q, which was not sealed so", got.Bytes)
	}
}
