package statetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
)

// Tampered is a store of somebody who has its database as well.
type Tampered struct {
	state.Store
	// Exec runs a statement of SQL behind the store's back.
	Exec func(t *testing.T, statement string)
	// Entries, Links and Chains are the tables of events, of what is kept of a chain beside each, and of
	// the chains' heads; Checkpoints is that of where logs begin. The first two may be the same.
	Entries, Links, Chains, Checkpoints string
}

// tampering is what somebody does to the log, and how that shows.
type tampering struct {
	name string
	// statements are run in turn; E, L, C and P stand for the tables, and H for a hash of zeros.
	statements []string
	want       audit.Damage
	kept       bool // it shows by a head that was kept elsewhere
	pruned     bool // of a log whose entries up to the seventh were removed
}

// The log has an event of one organization at each odd sequence from 1 to 19, and one of another at
// each even one. What there is of links in a table of their own goes along where both are said.
func tamperings() []tampering {
	const one, other = "'01000000-0000-0000-0000-000000000000'", "'02000000-0000-0000-0000-000000000000'"
	swapped := func(table string) []string {
		return []string{"UPDATE " + table + " SET sequence = 1000 WHERE sequence = 7",
			"UPDATE " + table + " SET sequence = 7 WHERE sequence = 9",
			"UPDATE " + table + " SET sequence = 9 WHERE sequence = 1000"}
	}
	return []tampering{
		{"Text", []string{"UPDATE E SET note = 'nothing' WHERE sequence = 7"}, audit.Changed, false, false},
		{"Actor", []string{"UPDATE E SET `key` = 'somebody' WHERE sequence = 1"}, audit.Changed, false, false},
		{"Time", []string{"UPDATE E SET at = at + 1 WHERE sequence = 19"}, audit.Changed, false, false},
		{"Hash", []string{"UPDATE L SET hash = H WHERE sequence = 7"}, audit.Changed, false, false},
		{"NoHash", []string{"UPDATE L SET place = 0 WHERE sequence = 7"}, audit.Added, false, false},
		{"Missing", []string{"DELETE FROM E WHERE sequence = 7"}, audit.Missing, false, false},
		{"MissingWithLink", []string{"DELETE FROM L WHERE sequence = 7", "DELETE FROM E WHERE sequence = 7"},
			audit.Missing, false, false},
		{"MissingFirst", []string{"DELETE FROM E WHERE sequence = 1"}, audit.Missing, false, false},
		{"MissingLast", []string{"DELETE FROM E WHERE sequence = 19"}, audit.Missing, false, false},
		{"Reordered", swapped("E"), "", false, false},
		{"Organization", []string{"UPDATE E SET org = " + other + " WHERE sequence = 7"}, audit.Missing, false, false},
		{"Swapped", []string{"UPDATE E SET org = CASE sequence WHEN 7 THEN " + other + " ELSE " + one +
			" END WHERE sequence IN (7, 8)"},
			audit.Changed, false, false},
		{"Blanked", []string{"UPDATE E SET org = '00000000-0000-0000-0000-000000000000', action = '' WHERE sequence = 7"},
			audit.Missing, false, false},
		{"Head", []string{"UPDATE C SET place = place + 1 WHERE org = " + one}, audit.Missing, false, false},
		{"NoHead", []string{"DELETE FROM C WHERE org = " + one}, audit.Missing, false, false},
		{"Unchained", []string{"DELETE FROM C", "UPDATE L SET place = 0", "UPDATE E SET reason = 'forged'"}, audit.Added,
			false, false},
		{"UnchainedOne", []string{"DELETE FROM C WHERE org = " + one, "UPDATE L SET place = 0, hash = H WHERE sequence % 2 = 1",
			"UPDATE E SET reason = 'forged' WHERE sequence = 7"}, audit.Added, false, false},
		{"Seed", []string{"UPDATE C SET seed = H WHERE org = " + one}, audit.Changed, false, false},
		{"CutOff", []string{"DELETE FROM E WHERE sequence > 13",
			"UPDATE C SET sequence = 13, place = 7, hash = (SELECT hash FROM L WHERE sequence = 13) WHERE org = " + one},
			audit.HeadLost, true, false},
		{"Gone", []string{"DELETE FROM E", "DELETE FROM C"}, audit.HeadLost, true, false},
		{"Checkpoint", []string{"UPDATE P SET sequence = 9 WHERE org = " + one}, audit.Begins, false, true},
		{"CheckpointBack", []string{"UPDATE P SET sequence = 5, place = 3 WHERE org = " + one}, audit.Missing, false, true},
		{"CheckpointHash", []string{"UPDATE P SET hash = H WHERE org = " + one}, audit.Changed, false, true},
		{"CheckpointPlace", []string{"UPDATE P SET place = place + 1 WHERE org = " + one}, audit.Moved, false, true},
		{"CheckpointTime", []string{"UPDATE P SET at = at + 1 WHERE org = " + one}, audit.Begins, false, true},
		{"NoCheckpoint", []string{"DELETE FROM P"}, audit.Missing, false, true},
		{"CheckpointMoved", []string{ // by who knows how
			"UPDATE P SET sequence = 9, place = 5, hash = (SELECT hash FROM L WHERE sequence = 9) WHERE org = " + one,
			"UPDATE E SET org = '00000000-0000-0000-0000-000000000000', action = '' WHERE sequence = 9",
		}, audit.Begins, false, true},
		{"CheckpointOfAnother", []string{"DELETE FROM P WHERE org = " + other,
			"UPDATE P SET org = " + other + " WHERE org = " + one},
			audit.Missing, false, true},
		{"RemovalGone", []string{"UPDATE E SET action = 'state.write' WHERE action = 'audit.prune'"}, audit.Begins, false, true},
		{"AfterRemoval", []string{"UPDATE E SET note = 'nothing' WHERE sequence = 9"}, audit.Changed, false, true},
		{"RemovedMore", []string{"DELETE FROM E WHERE sequence = 9"}, audit.Missing, false, true},
	}
}

// RunTampered holds a store to chains in which whatever somebody does to the log shows, then and when the
// chain has gone on. open returns a new, empty store, which the suite closes.
func RunTampered(t *testing.T, open func(t *testing.T) Tampered) {
	for _, c := range tamperings() {
		t.Run(c.name, func(t *testing.T) {
			store := open(t)
			defer store.Close()
			kept := store.fill(t)
			if found := store.breaks(t, kept); len(found) > 0 {
				t.Fatalf("before: %+v", found)
			}
			if c.pruned {
				store.prune(t)
			}
			for _, statement := range c.statements {
				store.Exec(t, store.spelled(statement))
			}
			store.wantBreak(t, c, kept)
			store.record(t, 1, 10)
			store.wantBreak(t, c, kept)
		})
	}
}

// spelled puts the tables' names in place.
func (s Tampered) spelled(statement string) string {
	words := strings.Fields(statement)
	for i, word := range words {
		switch word {
		case "E":
			words[i] = s.Entries
		case "L":
			words[i] = s.Links
		case "C":
			words[i] = s.Chains
		case "P":
			words[i] = s.Checkpoints
		case "H":
			words[i] = "X'" + strings.Repeat("00", len(audit.Hash{})) + "'"
		}
	}
	return strings.Join(words, " ")
}

func (s Tampered) wantBreak(t *testing.T, c tampering, kept audit.Mark) {
	t.Helper()
	if !c.kept {
		kept = audit.Mark{}
	}
	found := s.breaks(t, kept)
	if !slices.ContainsFunc(found, func(b audit.Break) bool { return c.want == "" || b.Damage == c.want }) {
		t.Errorf("found %+v, want %s", found, c.want)
	}
}

// fill makes the log, and returns the first organization's head.
func (s Tampered) fill(t *testing.T) audit.Mark {
	t.Helper()
	for n := range 10 {
		s.record(t, 1, n)
		s.record(t, 2, n)
	}
	chain, _, err := s.Chain(t.Context(), uuid.UUID{1}, 0, 1)
	if err != nil || chain.Head.Sequence != 19 || chain.Place != 10 {
		t.Fatalf("the chain is %+v, %v", chain, err)
	}
	return chain.Head
}

// prune removes the first organization's entries up to the one with the sequence 7.
func (s Tampered) prune(t *testing.T) {
	t.Helper()
	n, err := s.PruneEvents(t.Context(), uuid.UUID{1}, noon().Add(time.Hour), 4, happened(""))
	if n != 4 || err != nil {
		t.Fatal(n, err)
	}
	if found := s.breaks(t, audit.Mark{}); len(found) > 0 {
		t.Fatalf("before: %+v", found)
	}
}

func (s Tampered) record(t *testing.T, org byte, n int) {
	t.Helper()
	e := happened(fmt.Sprint(n, " of ", org))
	e.Org = uuid.UUID{org}
	if err := s.Record(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Feed(t.Context(), 0, 1); err != nil { // by then it has its sequence
		t.Fatal(err)
	}
}

// breaks are those of both organizations' chains.
func (s Tampered) breaks(t *testing.T, kept audit.Mark) (found []audit.Break) {
	t.Helper()
	for _, org := range []uuid.UUID{{1}, {2}} {
		for after, pages := (audit.Mark{}), 0; ; pages++ {
			v, err := audit.Verify(t.Context(), s, org, audit.Check{After: after, Kept: kept, Limit: 4})
			if err != nil || pages > 20 {
				t.Fatal(pages, err)
			}
			found = append(found, v.Breaks...)
			if after = v.Next; after == (audit.Mark{}) {
				break
			}
		}
		kept = audit.Mark{} // of the first one
	}
	return found
}
