package inventory

import "time"

// Stamp returns the timestamp of a batch that brings none: the clock's time in UTC and
// microseconds, or a microsecond more than the organization's newest record has if that is
// not earlier. So the order of timestamps is that of the batches, and none stands still
// where the clock was ahead for a while. The last microsecond of the year 9999 is followed
// by itself.
func Stamp(now, newest time.Time) time.Time {
	now = now.UTC().Truncate(time.Microsecond)
	if now.After(newest) {
		return now
	}
	next := newest.UTC().Add(time.Microsecond)
	if next.Year() > 9999 {
		return newest.UTC()
	}
	return next
}
