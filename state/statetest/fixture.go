package statetest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// newRef returns a state that no other check uses.
func newRef(name state.Name) state.Ref { return state.Ref{Org: uuid.New(), Name: name} }

// stateBody is a state as clients write it, filled up with padding.
func stateBody(serial uint64, padding string) []byte {
	return fmt.Appendf(nil, `{"version":4,"terraform_version":"1.9.0","serial":%d,"lineage":"6f2bcb34-2ec9-4b9f-9d8e-0e9e2a1d4c11","outputs":{},"resources":[],"check_results":"%s"}`, serial, padding)
}

// describe returns the version of a body, as state.Service would.
func describe(body []byte) state.Version {
	return state.Version{
		Serial:    1,
		Lineage:   "lineage",
		Size:      int64(len(body)),
		Digest:    sha256.Sum256(body),
		CreatedAt: time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC),
		Author:    state.Author{KeyID: "key", Address: "192.0.2.1", Request: "request"},
	}
}

// accept decides that v is the next version, whatever the head says.
func accept(v state.Version) state.Decide {
	return func(h state.Head) (state.Change, error) {
		next := v
		next.Number = h.Version.Number + 1
		return state.Change{Version: &next}, nil
	}
}

// always decides on the same change, whatever the head says.
func always(change state.Change) state.Decide {
	return func(state.Head) (state.Change, error) { return change, nil }
}

// newLock returns a lock as a client's LockInfo makes it.
func newLock(t *testing.T, id string) *state.Lock {
	t.Helper()
	raw := fmt.Sprintf(`{"ID":%q,"Operation":"OperationTypeApply","Info":"","Who":"ann@laptop","Version":"1.9.0","Created":"2026-03-04T05:06:07.123456789Z","Path":""}`, id)
	return &state.Lock{Info: parseLock(t, raw), Since: time.Date(2026, 3, 4, 5, 6, 7, 123456000, time.UTC), KeyID: "key"}
}

func parseLock(t *testing.T, raw string) state.LockInfo {
	t.Helper()
	info, err := state.ParseLockInfo([]byte(raw))
	if err != nil {
		t.Fatalf("ParseLockInfo(%s): %v", raw, err)
	}
	return info
}

// update makes an Update that has to succeed, and holds it to what Head says afterwards.
func update(t *testing.T, store state.Store, ref state.Ref, body []byte, decide state.Decide) state.Head {
	t.Helper()
	head, err := store.Update(t.Context(), ref, body, decide)
	if err != nil {
		t.Fatalf("Update: %v", err)
	}
	wantHead(t, store, ref, head)
	return head
}

// put stores body as the next version and reads it back in both ways.
func put(t *testing.T, store state.Store, ref state.Ref, body []byte) state.Head {
	t.Helper()
	head := update(t, store, ref, body, accept(describe(body)))
	want := state.Snapshot{Version: head.Version, Body: body}
	wantCurrent(t, store, ref, want)
	wantVersion(t, store, ref, want)
	return head
}

func wantHead(t *testing.T, store state.Store, ref state.Ref, want state.Head) {
	t.Helper()
	got, err := store.Head(t.Context(), ref)
	if err != nil {
		t.Fatalf("Head: %v", err)
	}
	suite.Equal(t, "Head", want, got)
}

func wantCurrent(t *testing.T, store state.Store, ref state.Ref, want state.Snapshot) {
	t.Helper()
	got, err := store.Current(t.Context(), ref)
	if err != nil {
		t.Fatalf("Current: %v", err)
	}
	wantSnapshot(t, "Current", want, got)
	wantTip(t, store, ref, want.Tip())
}

func wantVersion(t *testing.T, store state.Store, ref state.Ref, want state.Snapshot) {
	t.Helper()
	got, err := store.Version(t.Context(), ref, want.Number)
	if err != nil {
		t.Fatalf("Version(%d): %v", want.Number, err)
	}
	wantSnapshot(t, fmt.Sprintf("Version(%d)", want.Number), want, got)
}

func wantSnapshot(t *testing.T, what string, want, got state.Snapshot) {
	t.Helper()
	suite.Equal(t, what, want.Version, got.Version)
	// Not by cmp: a diff of megabytes helps nobody.
	if digest := sha256.Sum256(got.Body); digest != sha256.Sum256(want.Body) {
		t.Fatalf("%s: %d bytes with digest %x, want %d bytes with %x", what, len(got.Body), digest, len(want.Body),
			sha256.Sum256(want.Body))
	}
}

// wantAbsent holds the store to fault.StateNotFound, and to no snapshot beside it.
func wantAbsent(t *testing.T, store state.Store, ref state.Ref) {
	t.Helper()
	got, err := store.Current(context.Background(), ref)
	suite.Fault(t, "Current", err, fault.StateNotFound)
	suite.Equal(t, "Current beside an error", state.Snapshot{}, got)
	wantTip(t, store, ref, state.Tip{})
}
