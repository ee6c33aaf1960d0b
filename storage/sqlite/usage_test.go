package sqlite

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const sqlRecount = `SELECT u.org, u.bytes, (
	SELECT coalesce(sum(512 + 2 * max(coalesce(length(s.lock_raw), 0) - 1024, 0)), 0) FROM states s WHERE coalesce(s.owner, s.org) = u.org)
	+ (SELECT coalesce(sum(512 + coalesce(length(b.bytes) - 53, 0)), 0) FROM states s JOIN versions v ON v.state = s.id LEFT JOIN bodies b ON b.id = v.id WHERE coalesce(s.owner, s.org) = u.org)
	+ (SELECT coalesce(sum(512 + coalesce(length(c.bytes) - 53, 0)), 0) FROM states s JOIN candidates c ON c.state = s.id WHERE coalesce(s.owner, s.org) = u.org)
	FROM usage u`

// counted is what is counted of an organization, and what is there.
type counted struct {
	org          string
	bytes, there int64
}

// wantCounted compares what is counted with what is there, of every organization.
func wantCounted(t *testing.T, s *Store) {
	t.Helper()
	all, err := list(t.Context(), s, uuid.Nil, sqlRecount, nil, func(scan stateengine.Scan) (c counted, err error) {
		err = scan(&c.org, &c.bytes, &c.there)
		return c, err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("%d organizations, %v", len(all), err)
	}
	for _, c := range all {
		if c.bytes != c.there {
			t.Errorf("of %s %d bytes are counted, and %d are there", c.org, c.bytes, c.there)
		}
	}
}

// TestUsageBetweenPieces: what is left between the pieces of a removal counts for whom it
// was removed; versions that are stored anew on the way count as they are then.
func TestUsageBetweenPieces(t *testing.T) {
	s := openDeltas(t, t.TempDir())
	defer s.Close()
	ref := newRef("pieces")
	putAll(t, s, ref, slowly(20_000, 40))
	mustPurge(t, s, ref, 1) // of which others are deltas
	wantCounted(t, s)
	before := usageOfOrg(t, s, ref.Org)
	if _, err := s.Update(t.Context(), ref, nil, always(state.Change{At: time.Now(), Delete: true})); err != nil {
		t.Fatal(err)
	}
	for done := false; !done; {
		var err error
		if done, err = s.Expunge(t.Context(), ref, time.Now().Add(time.Hour), 7, audit.Event{}); err != nil {
			t.Fatal(err)
		}
		wantCounted(t, s)
		left := usageOfOrg(t, s, ref.Org)
		if left >= before && !done {
			t.Errorf("after a piece %d bytes are left, before it there were %d", left, before)
		}
		before = left
	}
	if before != 0 {
		t.Errorf("%d bytes are left in the end", before)
	}
}

func usageOfOrg(t *testing.T, s *Store, org uuid.UUID) int64 {
	t.Helper()
	used, err := s.Usage(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	return used
}
