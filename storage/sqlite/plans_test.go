package sqlite

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// TestPlans holds every statement to index lookups: nothing may grow with the number of
// states, versions, events or organizations.
func TestPlans(t *testing.T) {
	s, _ := opened(t)
	texts := []string{sqlCurrent, sqlVersion, sqlBase, sqlReadProbe, sqlLastSequence, sqlEventAt, sqlFeed, sqlOweSweep,
		sqlOwedSweep, sqlOwesSweep, sqlDidSweep,
		sqlStates, sqlStretch, sqlDeleted, sqlDeletedNext, sqlLocked, sqlExpected, sqlNames,
		sqlSettleTwins, sqlVersions, sqlAll,
		sqlCandidate, sqlFindVersion, string(sqlMarkPurged), string(sqlDropBody), sqlDropTwins,
		sqlOldest, string(sqlDropVersion), sqlFindDeleted, sqlFindDoomed, string(sqlDoom), sqlToDoom, sqlDoomedRows,
		sqlDropCandidates, sqlDropLockIDs, string(sqlDropState), sqlIsNeeded, sqlNeeded, sqlDependent, string(sqlReplace),
	}
	for _, statement := range s.session.statements() {
		texts = append(texts, statement.text)
	}
	for _, text := range texts {
		wantLookups(t, text, plan(t, s.session.conn, text))
	}
	// The one that sorts: what it has found by then are open candidates and the limit.
	steps := strings.Join(plan(t, s.session.conn, sqlCandidates), "\n")
	for _, want := range []string{"INDEX candidates_open (state=?)", "INDEX candidates_decided (state=? AND rowid<?)",
		"v USING INTEGER PRIMARY KEY (rowid=?)"} {
		if !strings.Contains(steps, want) {
			t.Errorf("%s\n%s\nwants %s", sqlCandidates, steps, want)
		}
	}
}

// wantLookups refuses what reads a whole table or index, and what sorts.
func wantLookups(t *testing.T, text string, steps []string) {
	t.Helper()
	for _, step := range steps {
		if strings.Contains(step, "SCAN") && step != "SCAN CONSTANT ROW" || strings.Contains(step, "TEMP B-TREE") {
			t.Errorf("%s\n%s", text, strings.Join(steps, "\n"))
		}
	}
}

// TestRanges names the index that each list walks, and how much of it.
func TestRanges(t *testing.T) {
	s, _ := opened(t)
	for text, want := range map[string]string{
		sqlStates:      "(org=? AND name>? AND name<?)",
		sqlNames:       "(org=? AND name>? AND name<?)",
		sqlDeleted:     "INDEX states_deleted (org=? AND name>? AND name<?)",
		sqlLocked:      "INDEX states_locked (org=? AND name>? AND name<?)",
		sqlExpected:    "INDEX states_expected (org=? AND name>? AND name<?)",
		sqlAll:         "((org,name)>(?,?))",
		sqlSettleTwins: "INDEX candidates_open (state=?)",
		sqlVersions:    "v USING INDEX sqlite_autoindex_versions_1 (state=? AND number<?)",
		sqlOldest:      "v USING INDEX sqlite_autoindex_versions_1 (state=?)",
		sqlFeed:        "PRIMARY KEY (rowid>?)",

		sqlStretch:     "COVERING INDEX sqlite_autoindex_states_1 (org=? AND name>? AND name<?)",
		sqlDeletedNext: "COVERING INDEX states_deleted (org=? AND name>? AND name<?)",

		sqlIsNeeded:  "v USING COVERING INDEX sqlite_autoindex_versions_1 (state=? AND number>? AND number<?)",
		sqlNeeded:    "v USING COVERING INDEX sqlite_autoindex_versions_1 (state=? AND number>? AND number<?)",
		sqlDependent: "v USING INDEX sqlite_autoindex_versions_1 (state=? AND number>? AND number<?)",
	} {
		wantStep(t, s, text, want)
	}
	full := audit.Query{Action: audit.VersionPurge, State: "a", KeyID: "k", Since: time.Now(), Until: time.Now(),
		Before: 9, Limit: 1}
	for _, c := range []struct {
		q    audit.Query
		want string
	}{
		{audit.Query{}, "INDEX events_org (org=? AND rowid>? AND rowid<?)"},
		{audit.Query{Since: full.Since, Until: full.Until, Before: 9}, "INDEX events_org (org=? AND rowid>? AND rowid<?)"},
		{audit.Query{KeyID: "k"}, "INDEX events_org (org=? AND rowid>? AND rowid<?)"},
		{audit.Query{State: "a"}, "INDEX events_state (org=? AND state=? AND rowid>? AND rowid<?)"},
		{audit.Query{State: "a", Action: audit.LockTake}, "INDEX events_state (org=? AND state=? AND rowid>? AND rowid<?)"},
		{audit.Query{Action: audit.VersionPurge}, "INDEX events_rare (org=? AND action=? AND rowid>? AND rowid<?)"},
		{audit.Query{Action: audit.LockTake}, "INDEX events_org (org=? AND rowid>? AND rowid<?)"},
		{full, "INDEX events_state (org=? AND state=? AND rowid>? AND rowid<?)"},
	} {
		l := listFor(uuid.Nil, c.q)
		text, _ := l.stretch(1, 2, 3)
		wantStep(t, s, text, "COVERING "+c.want)
		text, _ = l.rows(1, 2, 3)
		wantStep(t, s, text, c.want)
		if strings.Contains(text, "UNION") {
			wantStep(t, s, text, "SEARCH events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)")
			wantStep(t, s, text, "MERGE (UNION ALL)")
		}
	}
}

func wantStep(t *testing.T, s *Store, text, want string) {
	t.Helper()
	steps := plan(t, s.session.conn, text)
	wantLookups(t, text, steps)
	if !strings.Contains(strings.Join(steps, "\n"), want) {
		t.Errorf("%s\n%s\nwants %s", text, strings.Join(steps, "\n"), want)
	}
}

func plan(t *testing.T, conn *sql.Conn, text string) (steps []string) {
	t.Helper()
	args := make([]any, strings.Count(text, "?")+1) // not all numbers need to be in use
	rows, err := conn.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	return steps
}
