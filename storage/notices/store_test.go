package notices_test

import (
	"bytes"
	"context"
	"database/sql"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/webhook"
	"github.com/holdfast/holdfast/storage/notices"
	"github.com/holdfast/holdfast/storage/sqldb/sqldbtest"
	"github.com/holdfast/holdfast/storage/sqlitedb/sqlitetest"
)

var _ webhook.Outbox = (*notices.Folder)(nil)

// recorder is an outbox as the suite of its writer uses it.
type recorder struct{ *notices.Folder }

func (r recorder) Record(name string, bytes int) error {
	e := audit.Event{Org: uuid.NewSHA1(uuid.Nil, []byte(name)), Sequence: 1, Reason: name,
		Note: strings.Repeat("x", bytes)}
	return r.Keep(context.Background(), 1, []audit.Event{e})
}

func (r recorder) Recorded() (names []string, err error) {
	_, _, waiting, err := r.Load(context.Background())
	for _, e := range waiting {
		names = append(names, e.Reason)
	}
	return names, err
}

func engine() sqlitetest.Engine {
	return sqlitetest.Engine{Database: notices.DatabaseName, Open: func(dir string) (sqlitetest.Store, error) {
		s, err := notices.Open(context.Background(), dir, slog.New(slog.DiscardHandler))
		return recorder{s}, err
	}}
}

func TestMain(m *testing.M) {
	sqlitetest.ChildMain(engine())
	os.Exit(sqldbtest.Main(m))
}

// TestWhenThingsGoWrong holds the outbox to what its writer promises.
func TestWhenThingsGoWrong(t *testing.T) { sqlitetest.Run(t, engine()) }

// event is one with all that one can have.
func event(org uuid.UUID, sequence uint64) audit.Event {
	return audit.Event{
		Sequence: sequence, At: time.Date(2026, 1, 2, 3, 4, 5, int(sequence)*1000, time.UTC), Org: org,
		Action: audit.CandidateHold, State: "prod/é", Version: 7,
		LockID: "lock", Refused: fault.RightMissing, Reason: "\"why\"\x00", Note: "6cfe: emptied",
		Actor: audit.Actor{KeyID: "k", KeyName: "ci", Subject: "s", Role: auth.Owner, Address: "192.0.2.1", Request: "r"},
	}
}

// TestOutboxes holds every outbox to what webhook.Outbox says; one that lasts, after it was opened
// again as well.
func TestOutboxes(t *testing.T) {
	dir := t.TempDir()
	for name, open := range map[string]func(t *testing.T) webhook.Outbox{
		"memory": func(*testing.T) webhook.Outbox { return webhook.NewMemoryOutbox() },
		"sqlite": func(t *testing.T) webhook.Outbox { return opened(t, dir) },
	} {
		t.Run(name, func(t *testing.T) {
			box := open(t)
			want := func(position uint64, known bool, waiting ...audit.Event) {
				t.Helper()
				p, k, w, err := box.Load(t.Context())
				if err != nil || p != position || k != known || !slices.Equal(w, waiting) {
					t.Fatalf("position %d, %t, %v; %s", p, k, err, cmp.Diff(waiting, w))
				}
			}
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			a, b := uuid.New(), uuid.New()
			want(0, false)
			must(box.Keep(t.Context(), 0, nil))
			want(0, true)
			must(box.Keep(t.Context(), 7, []audit.Event{event(a, 5), event(b, 7)}))
			must(box.Keep(t.Context(), 9, []audit.Event{event(b, 7), event(a, 8)})) // the first is there
			want(9, true, event(a, 5), event(b, 7), event(a, 8))
			must(box.Remove(t.Context(), event(b, 7)))
			must(box.Remove(t.Context(), event(b, 7)))
			must(box.Keep(t.Context(), 3, nil))
			want(3, true, event(a, 5), event(a, 8))
			if closer, ok := box.(*notices.Folder); ok {
				must(closer.Close())
				box = open(t)
				want(3, true, event(a, 5), event(a, 8))
			}
			shred := func(org uuid.UUID, limit, want int) {
				t.Helper()
				if n, err := box.Shred(t.Context(), org, limit); n != want || err != nil {
					t.Errorf("Shred removed %d, %v; want %d", n, err, want)
				}
			}
			must(box.Keep(t.Context(), 9, []audit.Event{event(b, 7), event(a, 9)}))
			shred(a, 2, 2)
			shred(a, 2, 1)
			shred(a, 2, 0)
			shred(uuid.New(), 2, 0)
			want(9, true, event(b, 7))
		})
	}
}

// Of an organization that was shredded nothing is left in the files, told or not; of others all is.
func TestShred(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir)
	gone, other := uuid.New(), uuid.New()
	fill := func(org uuid.UUID, marker string) (all []audit.Event) {
		for i := range 40 {
			e := event(org, uint64(i+1))
			e.Reason = strings.Repeat(marker, 1+i*i)
			all = append(all, e)
		}
		return all
	}
	kept, shredded := fill(other, "PUBLIC"), fill(gone, "SECRET")
	if err := s.Keep(t.Context(), 99, append(slices.Clone(kept), shredded...)); err != nil {
		t.Fatal(err)
	}
	for round := range 2 { // the second finds what was told since
		for _, told := range shredded[:20] {
			if err := s.Keep(t.Context(), 99, []audit.Event{told}); err != nil {
				t.Fatal(err)
			}
			if err := s.Remove(t.Context(), told); err != nil {
				t.Fatal(err)
			}
		}
		var removed int
		for n := 1; n > 0; removed += n {
			var err error
			if n, err = s.Shred(t.Context(), gone, 7); err != nil || n > 7 {
				t.Fatal(n, err)
			}
		}
		if want := 20 * (1 - round); removed != want {
			t.Errorf("round %d: %d notices went, want %d", round, removed, want)
		}
		for _, name := range []string{"", "-wal"} {
			text, err := os.ReadFile(filepath.Join(dir, notices.DatabaseName+name))
			if err != nil || bytes.Contains(text, []byte("SECRET")) || bytes.Contains(text, []byte(gone.String())) {
				t.Errorf("round %d: something is left in the file%s (%v)", round, name, err)
			}
		}
	}
	if position, _, waiting, err := s.Load(t.Context()); err != nil || position != 99 || !slices.Equal(waiting, kept) {
		t.Errorf("position %d, %d notices of others, %v", position, len(waiting), err)
	}
}

func opened(t *testing.T, dir string) *notices.Folder {
	t.Helper()
	s, err := notices.Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestShredLeavesNoBytes looks through the files for notices that waited, and for such as were told.
func TestShredLeavesNoBytes(t *testing.T) {
	dir := t.TempDir()
	box := opened(t, dir)
	org, other := uuid.New(), uuid.New()
	for i := range uint64(60) {
		long, stays := event(org, i), event(other, i)
		long.Note = strings.Repeat("MARKER ", 1+300*int(i%3))
		if err := box.Keep(t.Context(), i, []audit.Event{long, stays}); err != nil {
			t.Fatal(err)
		}
		if i%4 == 0 {
			if err := box.Remove(t.Context(), long); err != nil {
				t.Fatal(err)
			}
		}
	}
	if sqlitetest.CountIn(t, dir, "MARKER") == 0 {
		t.Fatal("there is nothing to find: the test shows nothing")
	}
	for n := 1; n > 0; {
		var err error
		if n, err = box.Shred(t.Context(), org, 7); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"MARKER", org.String()} {
		if n := sqlitetest.CountIn(t, dir, text); n > 0 {
			t.Errorf("the files have %d pieces of %s", n, text)
		}
	}
	if _, _, waiting, err := box.Load(t.Context()); err != nil || len(waiting) != 60 {
		t.Errorf("another organization's are %d, %v", len(waiting), err)
	}
}

// A notice that can't be read keeps no other back, and is named in the log at each start; it goes with
// its organization.
func TestDamagedNotice(t *testing.T) {
	dir, org := t.TempDir(), uuid.New()
	box := opened(t, dir)
	if err := box.Keep(t.Context(), 3, []audit.Event{event(org, 1), event(org, 2), event(org, 3)}); err != nil {
		t.Fatal(err)
	}
	if err := box.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, notices.DatabaseName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`UPDATE notices SET event = CAST('{' AS BLOB) WHERE sequence = 2`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	store, err := notices.Open(t.Context(), dir, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	position, known, waiting, err := store.Load(t.Context())
	if err != nil || !known || position != 3 || len(waiting) != 2 || waiting[0].Sequence != 1 || waiting[1].Sequence != 3 {
		t.Errorf("%d, %v, %v, %v; want the first and the third", position, known, waiting, err)
	}
	if said := log.String(); strings.Count(said, "is damaged") != 1 || !strings.Contains(said, org.String()) ||
		!strings.Contains(said, "sequence=2") {
		t.Errorf("the log says %s", said)
	}
	if removed, err := store.Shred(t.Context(), org, 10); removed != 3 || err != nil {
		t.Errorf("%d were destroyed, %v; want all three", removed, err)
	}
}
