package audit_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// prunedLog has so many old entries of each organization; of one without any it fails.
type prunedLog struct {
	old  map[uuid.UUID]int
	cuts []time.Time
}

func (l *prunedLog) PruneEvents(_ context.Context, org uuid.UUID, before time.Time, limit int,
	e audit.Event) (int, error) {
	n, ok := l.old[org]
	if !ok || e.Org != org || e.Action != audit.AuditPrune || e.Actor != audit.Server() {
		return 0, errors.New("broken")
	}
	n = min(n, limit)
	l.old[org] -= n
	l.cuts = append(l.cuts, before)
	return n, nil
}

// A sweep removes what organizations don't keep, of whole days, until nothing is left, and one that fails keeps no
// other from it.
func TestRetention(t *testing.T) {
	one, forever, broken, other := uuid.UUID{1}, uuid.UUID{2}, uuid.UUID{3}, uuid.UUID{4}
	log := &prunedLog{old: map[uuid.UUID]int{one: 450, forever: 9, other: 200}}
	r := audit.Retention{
		Log: log, Orgs: func() []uuid.UUID { return []uuid.UUID{one, forever, broken, other} },
		Keep: func(org uuid.UUID) time.Duration {
			if org == forever {
				return 0
			}
			return 48 * time.Hour
		},
		Now: func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 8, time.FixedZone("east", 3600)) },
	}
	if err := r.Sweep(t.Context()); err == nil {
		t.Error("what fails is no error")
	}
	if log.old[one] != 0 || log.old[other] != 0 || log.old[forever] != 9 {
		t.Errorf("left are %v", log.old)
	}
	want := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	if len(log.cuts) != 3+2 || slices.ContainsFunc(log.cuts, func(at time.Time) bool { return !at.Equal(want) }) {
		t.Errorf("removed were entries from before %v", log.cuts)
	}
}
