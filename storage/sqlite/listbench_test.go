package sqlite

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
)

// manyRows makes 100,000 states of one organization, every thousandth of them locked, and
// 300,000 events.
const manyRows = `
INSERT INTO states (org, name, newest, lock_id, lock_since)
	WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
	SELECT '01000000-0000-0000-0000-000000000000', printf('team/%06d/production', i), i, iif(i % 1000 = 0, i, NULL), iif(i % 1000 = 0, i, NULL) FROM n;
INSERT INTO versions (state, number, serial, lineage, terraform_version, encrypted, size, digest, created_at, key_id, address, request, who, operation)
	SELECT id, 1, 1, 'lineage', '1.9.8', 0, 2, zeroblob(32), id, 'ci', '192.0.2.1', 'request', 'ann', 'apply' FROM states;
INSERT INTO events (at, org, action, state, version, lock_id, refused, reason, note, key_id, key_name, subject, role, address, request)
	SELECT id, org, c.column1, name, 1, '', '', '', '', 'ci', '', '', 'writer', '', '' FROM states,
	(VALUES ('lock.take'), ('state.write'), ('lock.release')) c;`

// BenchmarkLists reads pages of 100 out of the middle of what is large.
func BenchmarkLists(b *testing.B) {
	s := open(b, b.TempDir())
	defer s.Close()
	if _, err := s.session.conn.ExecContext(b.Context(), manyRows); err != nil {
		b.Fatal(err)
	}
	org, middle := uuid.UUID{1}, state.Name("team/050000/production")
	ref, at := state.Ref{Org: org, Name: middle}, time.UnixMicro(50_000)
	for name, list := range map[string]func() (int, error){
		"States": func() (int, error) {
			l, err := s.States(b.Context(), org, state.StatesQuery{After: middle, Limit: 100})
			return len(l.States), err
		},
		"Prefix": func() (int, error) {
			l, err := s.States(b.Context(), org, state.StatesQuery{Prefix: "team/0501", Limit: 100})
			return len(l.States), err
		},
		"Locked": func() (int, error) {
			l, err := s.States(b.Context(), org, state.StatesQuery{Locked: true, Limit: 100})
			return len(l.States), err
		},
		"All":  func() (int, error) { l, err := s.All(b.Context(), ref, 100); return len(l), err },
		"Feed": func() (int, error) { l, err := s.Feed(b.Context(), 150_000, 100); return len(l), err },
		"Events": func() (int, error) {
			l, err := s.Events(b.Context(), org, audit.Query{Limit: 100})
			return len(l.Events), err
		},
		"OfAState": func() (int, error) {
			l, err := s.Events(b.Context(), org, audit.Query{State: string(middle), Limit: 100})
			return len(l.Events) + 97, err
		},
		"Purges": func() (int, error) {
			l, err := s.Events(b.Context(), org, audit.Query{Action: audit.VersionPurge, Limit: 100})
			return len(l.Events) + 100, err
		},
		"UntilThen": func() (int, error) {
			l, err := s.Events(b.Context(), org, audit.Query{Until: at, Limit: 100})
			return len(l.Events), err
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if n, err := list(); n != 100 || err != nil {
					b.Fatal(n, err)
				}
			}
		})
	}
}
