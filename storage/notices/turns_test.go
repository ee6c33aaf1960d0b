package notices

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/internal/webhook"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqldb/sqldbtest"
)

var (
	_ webhook.Outbox = (*Store)(nil)
	_ webhook.Turn   = (*Store)(nil)
)

// each runs a test on two nodes of one database.
func each(t *testing.T, test func(t *testing.T, a, b *Store)) {
	discard := slog.New(slog.DiscardHandler)
	t.Run("memory", func(t *testing.T) {
		db := openDB(t, sqldb.Options{})
		test(t, New(db, uuid.New(), discard), New(db, uuid.New(), discard))
	})
	nodes := func(t *testing.T, o sqldb.Options) {
		test(t, New(openDB(t, o), uuid.New(), discard), New(openDB(t, o), uuid.New(), discard))
	}
	t.Run("mysql", func(t *testing.T) {
		suite.Deep(t)
		nodes(t, sqldbtest.OnMySQL(t))
	})
	t.Run("postgres", func(t *testing.T) { nodes(t, sqldbtest.OnPostgres(t)) })
}

func openDB(t *testing.T, o sqldb.Options) *sqldb.DB {
	t.Helper()
	db, err := sqldb.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func take(t *testing.T, s *Store, want bool) {
	t.Helper()
	if mine, err := s.Take(t.Context()); err != nil || mine != want {
		t.Fatalf("Take: %v, %v; want %v", mine, err, want)
	}
}

// pass has the turn be so much older.
func pass(t *testing.T, s *Store, d time.Duration) {
	t.Helper()
	must(t, s.db.Write(t.Context(), uuid.Nil, func(tx sqldb.Tx) error {
		_, err := tx.Exec("UPDATE node_turns SET until = until - ?", d.Microseconds())
		return err
	}))
}

// TestTurns: one has it until it leaves, or does not renew it.
func TestTurns(t *testing.T) {
	each(t, func(t *testing.T, a, b *Store) {
		take(t, a, true)
		take(t, b, false)
		take(t, a, true)
		must(t, b.Leave(t.Context())) // it has none to give up
		take(t, b, false)
		must(t, a.Leave(t.Context()))
		take(t, b, true)
		pass(t, b, held*3/4)
		take(t, b, true) // renewed
		pass(t, b, held*3/4)
		take(t, a, false)
		pass(t, b, held)
		take(t, a, true)
		take(t, b, false)
	})
}

// TestOneTurn: of many who take it at once, one has it.
func TestOneTurn(t *testing.T) {
	each(t, func(t *testing.T, a, b *Store) {
		var mine atomic.Int64
		var taking sync.WaitGroup
		for i := range 8 {
			taking.Go(func() {
				s := New([]*Store{a, b}[i%2].db, uuid.New(), slog.New(slog.DiscardHandler))
				if got, err := s.Take(t.Context()); err != nil {
					t.Error(err)
				} else if got {
					mine.Add(1)
				}
			})
		}
		taking.Wait()
		if mine.Load() != 1 {
			t.Errorf("%d have it", mine.Load())
		}
	})
}

// TestOutbox keeps, shows to both, and removes; and refuses the position of a node whose turn is over.
func TestOutbox(t *testing.T) {
	each(t, func(t *testing.T, a, b *Store) {
		org, at := uuid.New(), time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)
		n := func(org uuid.UUID, sequence uint64) audit.Event {
			return audit.Event{Sequence: sequence, At: at, Org: org, Action: audit.CandidateHold, State: "prod/é",
				Note: "<note>", Actor: audit.Actor{KeyID: "key"}}
		}
		want := func(position uint64, known bool, waiting ...audit.Event) {
			t.Helper()
			gotPosition, gotKnown, got, err := b.Load(t.Context())
			if err != nil || gotPosition != position || gotKnown != known || !cmp.Equal(got, waiting) {
				t.Fatalf("%d, %v, %v\n%s", gotPosition, gotKnown, err, cmp.Diff(waiting, got))
			}
		}
		want(0, false)
		take(t, a, true)
		one, two, other := n(org, 1), n(org, 2), n(uuid.New(), 3)
		must(t, a.Keep(t.Context(), 2, []audit.Event{two, one}))
		must(t, a.Keep(t.Context(), 3, []audit.Event{one, other}))
		want(3, true, one, two, other)
		must(t, b.Remove(t.Context(), two))
		must(t, b.Remove(t.Context(), two))
		must(t, a.Leave(t.Context()))
		take(t, b, true)
		must(t, b.Keep(t.Context(), 9, nil))
		if err := a.Keep(t.Context(), 4, []audit.Event{two}); err == nil {
			t.Error("a node whose turn is over has set the position back")
		}
		want(9, true, one, other)
		for _, removed := range []int{1, 0} {
			if got, err := a.Shred(context.Background(), org, 5); got != removed || err != nil {
				t.Errorf("Shred: %d, %v", got, err)
			}
		}
		want(9, true, other)
	})
}

// TestDamagedNotice: one that can't be read is told to nobody, holds up no other, stays, and is logged.
func TestDamagedNotice(t *testing.T) {
	each(t, func(t *testing.T, a, b *Store) {
		var log bytes.Buffer
		b.log = slog.New(slog.NewTextHandler(&log, nil))
		org := uuid.New()
		n := func(sequence uint64) audit.Event {
			return audit.Event{Sequence: sequence, At: time.UnixMicro(5).UTC(), Org: org, Action: audit.StateWrite}
		}
		take(t, a, true)
		must(t, a.Keep(t.Context(), 3, []audit.Event{n(1), n(2), n(3)}))
		must(t, a.db.Write(t.Context(), uuid.Nil, func(tx sqldb.Tx) error {
			_, err := tx.Exec("UPDATE notices SET event = ? WHERE sequence = 2", []byte(`{"Sequence":`))
			return err
		}))
		for range 2 {
			_, _, waiting, err := b.Load(t.Context())
			if err != nil || len(waiting) != 2 || waiting[0].Sequence != 1 || waiting[1].Sequence != 3 {
				t.Errorf("%+v wait, %v", waiting, err)
			}
		}
		if said := log.String(); strings.Count(said, "a notice that waits is damaged") != 2 ||
			!strings.Contains(said, "sequence=2") || !strings.Contains(said, org.String()) {
			t.Errorf("the log says %s", said)
		}
	})
}
