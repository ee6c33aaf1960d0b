package audit_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// together is a recorder for many at once.
type together struct {
	recorder
	mu sync.Mutex
}

func (r *together) Record(ctx context.Context, event audit.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	return r.recorder.Record(ctx, event)
}

func (r *together) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

// take returns what was recorded since the last time.
func (r *together) take() []audit.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.events
	r.events = nil
	return events
}

func everybody(uuid.UUID) bool { return true }

func read(org uuid.UUID, state, key string, version uint64) audit.Event {
	return audit.Event{Org: org, Action: audit.StateRead, State: state, Version: version,
		Actor: audit.Actor{KeyID: key, Address: "10.0.0.1"}}
}

// A read is on record before Note returns; the same reader's later ones are added up for an hour.
func TestReads(t *testing.T) {
	var kept together
	now := time.Unix(1_000_000, 0)
	r := audit.NewReads(&kept, func() time.Time { return now }, slog.New(slog.DiscardHandler))
	org := uuid.New()
	r.Note(t.Context(), read(org, "prod", "k1", 7))
	if got := kept.take(); len(got) != 1 || got[0].Version != 7 || got[0].State != "prod" {
		t.Fatalf("%+v", got)
	}
	var wg sync.WaitGroup
	for n := range uint64(50) {
		wg.Go(func() { r.Note(t.Context(), read(org, "prod", "k1", 7+n)) })
	}
	wg.Wait()
	r.Note(t.Context(), read(org, "prod", "k2", 7))
	r.Note(t.Context(), read(org, "test", "k1", 7))
	if got := kept.take(); len(got) != 2 {
		t.Fatalf("%d entries; want those of another reader and of another state: %+v", len(got), got)
	}
	flush := func(all bool) []audit.Event {
		t.Helper()
		if err := r.Flush(t.Context(), all, everybody); err != nil {
			t.Fatal(err)
		}
		return kept.take()
	}
	if got := flush(false); len(got) != 0 {
		t.Fatalf("before the hour is over: %+v", got)
	}
	now = now.Add(time.Hour)
	if got := flush(false); len(got) != 1 || got[0].Note != "read 50 more times since the entry before" {
		t.Fatalf("when the hour is over: %+v", got)
	}
	r.Note(t.Context(), read(org, "prod", "k1", 8))
	r.Note(t.Context(), read(org, "prod", "k1", 8))
	if got := kept.take(); len(got) != 1 {
		t.Fatalf("in the next hour: %+v", got)
	}
	if got := flush(true); len(got) != 1 || got[0].Note != "read 1 more times since the entry before" {
		t.Fatalf("at the end: %+v", got)
	}
	if got := flush(true); len(got) != 0 {
		t.Fatalf("twice: %+v", got)
	}
}

// Uploads are added up by themselves, in words of their own.
func TestUploads(t *testing.T) {
	var kept together
	r := audit.NewReads(&kept, time.Now, slog.New(slog.DiscardHandler))
	e := read(uuid.New(), "", "k1", 0)
	r.Note(t.Context(), e)
	e.Action = audit.Upload
	for range 4 {
		r.Note(t.Context(), e)
	}
	if got := kept.take(); len(got) != 2 || got[1].Action != audit.Upload {
		t.Fatalf("%+v", got)
	}
	if err := r.Flush(t.Context(), true, everybody); err != nil {
		t.Fatal(err)
	}
	if got := kept.take(); len(got) != 1 || got[0].Note != "uploaded 3 more times since the entry before" {
		t.Errorf("%+v", got)
	}
}

// What can't be written keeps nobody from reading, and comes as soon as it can.
func TestReadsOfAFullDisk(t *testing.T) {
	var kept together
	r := audit.NewReads(&kept, time.Now, slog.New(slog.DiscardHandler))
	org := uuid.New()
	kept.fail(errors.New("full"))
	for range 3 {
		r.Note(t.Context(), read(org, "prod", "k1", 7))
	}
	r.Note(t.Context(), read(org, "test", "k1", 7))
	for range 2 {
		if err := r.Flush(t.Context(), true, everybody); err == nil {
			t.Fatal("a full disk is no error")
		}
	}
	kept.fail(nil)
	if err := r.Flush(t.Context(), true, everybody); err != nil {
		t.Fatal(err)
	}
	notes := map[string]int{}
	for _, e := range kept.take() {
		notes[e.State+":"+e.Note]++
	}
	want := map[string]int{"prod:": 1, "prod:read 2 more times since the entry before": 1, "test:": 1}
	if fmt.Sprint(notes) != fmt.Sprint(want) {
		t.Errorf("%v; want %v", notes, want)
	}
}

// Of an organization that is gone nothing is written, and nothing kept.
func TestReadsOfOneThatIsGone(t *testing.T) {
	var kept together
	r := audit.NewReads(&kept, time.Now, slog.New(slog.DiscardHandler))
	org := uuid.New()
	for range 2 {
		r.Note(t.Context(), read(org, "prod", "k1", 7))
	}
	kept.take()
	if err := r.Flush(t.Context(), false, func(uuid.UUID) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if err := r.Flush(t.Context(), true, everybody); err != nil || len(kept.take()) != 0 {
		t.Error("something of an organization that is gone was written")
	}
}

// An organization with more readers than are added up has an entry for each read.
func TestReadsAreBounded(t *testing.T) {
	var kept together
	r := audit.NewReads(&kept, time.Now, slog.New(slog.DiscardHandler))
	org := uuid.New()
	const own = 64 << 10 / 4
	for n := range own {
		r.Note(t.Context(), read(org, fmt.Sprint("s", n), "k1", 1))
	}
	kept.take()
	for range 3 {
		r.Note(t.Context(), read(org, "one more", "k1", 1))
		r.Note(t.Context(), read(uuid.UUID{1}, "another one's", "k1", 1))
	}
	if got := len(kept.take()); got != 4 {
		t.Errorf("%d entries; want 3, and 1 of another organization", got)
	}
}
