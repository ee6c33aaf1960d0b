package stateengine

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
)

// PruneTx is a transaction of an engine's in which old versions of one state are removed. No other
// one changes the state at the same time.
type PruneTx interface {
	// Oldest reads the ID, number and time of the oldest versions, at most limit, and whether
	// each is the newest.
	Oldest(limit int) (*sql.Rows, error)
	// NeededUpTo returns the number of a version up to last that one behind last is a delta of;
	// 0 when there is none.
	NeededUpTo(last uint64) (base uint64, err error)
	// DropVersions removes versions with their bodies.
	DropVersions(ids []int64) error
	AddEvent(e audit.Event) error
}

// Prune removes nothing when a version that stays is a delta of one that goes. It returns
// the number of that one then, and of the last that goes.
func Prune(t PruneTx, p state.Pruning, event audit.Event) (removed int, base, last uint64, err error) {
	rows, err := t.Oldest(p.Limit + state.PruneReach + 1)
	if err != nil {
		return 0, 0, 0, err
	}
	old, last, err := going(rows, p)
	if err != nil || len(old) == 0 {
		return 0, 0, 0, err
	}
	if base, err = t.NeededUpTo(last); err != nil || base != 0 {
		return 0, base, last, err
	}
	if err := t.DropVersions(old); err != nil {
		return 0, 0, 0, err
	}
	event.Note = fmt.Sprintf("%d versions", len(old))
	return len(old), 0, last, t.AddEvent(event)
}

// going returns the IDs of the versions that go, the oldest first, and the number of the
// last of them.
func going(rows *sql.Rows, p state.Pruning) (ids []int64, last uint64, err error) {
	defer rows.Close()
	var numbers []uint64
	n := p.Count(func(yield func(state.Aged) bool) {
		for rows.Next() {
			var id, number, created int64
			var newest bool
			if err = rows.Scan(&id, &number, &created, &newest); err != nil {
				return
			}
			ids, numbers = append(ids, id), append(numbers, uint64(number))
			if !yield(state.Aged{Number: uint64(number), CreatedAt: FromMicros(created), Newest: newest}) {
				return
			}
		}
	})
	if err = errors.Join(err, rows.Err()); err != nil || n == 0 {
		return nil, 0, err
	}
	return ids[:n], numbers[n-1], nil
}
