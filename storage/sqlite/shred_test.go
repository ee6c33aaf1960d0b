package sqlite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/sqlitedb/sqlitetest"
)

// shreddedOrg and spared are the organizations of that folder.
func shreddedOrg() uuid.UUID { return uuid.MustParse("5bedded0-0000-4000-8000-000000000001") }
func spared() uuid.UUID      { return uuid.MustParse("5bedded0-0000-4000-8000-000000000002") }

// fillOrg gives an organization states of every size, with deltas, candidates, locks and events.
func fillOrg(t *testing.T, s *Store, org uuid.UUID, marker string) {
	t.Helper()
	for i, body := range secrets() {
		ref := state.Ref{Org: org, Name: state.Name(fmt.Sprintf("%s/%d", marker, i%7))}
		body = append([]byte(marker), body...)
		mustPut(t, s, ref, body)
		event := audit.Event{Org: org, Action: audit.StateWrite, State: string(ref.Name), Note: marker}
		if err := s.Record(t.Context(), event); err != nil {
			t.Fatal(err)
		}
		c := &state.Candidate{ID: fmt.Sprint(i), Version: describe(body), Status: state.Open, Source: state.Pushed}
		if i%5 == 0 {
			if _, err := s.Update(t.Context(), ref, body, always(state.Change{Candidate: c})); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// said is all that the tables of a database say of an organization, row by row.
func said(t *testing.T, s *Store, org uuid.UUID, marker string) (all []string) {
	t.Helper()
	err := s.borrow(t.Context(), func(r *reader) error {
		tables, err := r.conn.QueryContext(t.Context(),
			"SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
		if err != nil {
			return err
		}
		var names []string
		for tables.Next() {
			var name string
			if err := tables.Scan(&name); err != nil {
				return err
			}
			names = append(names, name)
		}
		for _, name := range names {
			rows, err := r.conn.QueryContext(t.Context(), "SELECT * FROM "+name)
			if err != nil {
				return err
			}
			columns, err := rows.Columns()
			if err != nil {
				return err
			}
			for rows.Next() {
				cells := make([]any, len(columns))
				for i := range cells {
					cells[i] = new(any)
				}
				if err := rows.Scan(cells...); err != nil {
					return err
				}
				var row strings.Builder
				for _, c := range cells {
					fmt.Fprintf(&row, "%s|", *c.(*any))
				}
				if text := row.String(); strings.Contains(text, org.String()) || strings.Contains(text, marker) {
					all = append(all, name+": "+text)
				}
			}
			if err := rows.Err(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func wantNoBytes(t *testing.T, dir string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if n := sqlitetest.CountIn(t, dir, text); n > 0 {
			t.Errorf("the files have %q %d times", text, n)
		}
	}
}

func shredAll(t *testing.T, s *Store, org uuid.UUID) {
	t.Helper()
	for n := 1; n > 0; {
		var err error
		if n, err = s.Shred(t.Context(), org, 20); err != nil {
			t.Fatal(err)
		}
	}
}

// TestShredLeavesNothing looks through all tables and all files.
func TestShredLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	fillOrg(t, s, spared(), "SPARED")
	fillOrg(t, s, shreddedOrg(), "MARKER")
	before := said(t, s, spared(), "SPARED")
	if n := len(said(t, s, shreddedOrg(), "MARKER")); n < 30 || len(before) < 30 {
		t.Fatalf("there is too little, %d and %d: the test shows nothing", n, len(before))
	}
	shredAll(t, s, shreddedOrg())
	if left := said(t, s, shreddedOrg(), "MARKER"); len(left) > 0 {
		t.Errorf("%d rows are left, such as %.200s", len(left), left[0])
	}
	if after := said(t, s, spared(), "SPARED"); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("the other organization has %d rows, had %d", len(after), len(before))
	}
	wantNoBytes(t, dir, "MARKER", shreddedOrg().String())
}
