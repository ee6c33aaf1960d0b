package inventory

import "time"

// CountExpired returns how many of an organization's oldest records one call of Expire removes: those before a time,
// at most limit. It ends between two timestamps, so that it splits no batch, unless more than limit records have the
// first one. records may end behind limit+1 of them.
func CountExpired[T any](records []T, before time.Time, limit int, at func(T) time.Time) int {
	n := 0
	for n < len(records) && n < limit && at(records[n]).Before(before) {
		n++
	}
	if n == 0 || n == len(records) || !at(records[n]).Equal(at(records[n-1])) {
		return n
	}
	for whole := n - 1; whole > 0; whole-- {
		if !at(records[whole]).Equal(at(records[whole-1])) {
			return whole
		}
	}
	return n
}
