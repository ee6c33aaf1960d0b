package cron

import "time"

// reach is how far a schedule is looked for: February 29 of a year that is a multiple of 100 is 8 years away.
const reach = 9 * 366 * 24 * time.Hour

// Next is the first time behind after at which the schedule comes.
//
// When clocks are set forward, what would have come in the time that is left out comes right behind it, once. When
// they are set back, what comes at an hour comes the first time only; what goes on through all hours comes in both.
func (s Schedule) Next(after time.Time) time.Time {
	t := after.In(s.zone).Truncate(time.Minute)
	for end := t.Add(reach); t.Before(end); {
		before := t
		t = t.Add(time.Minute)
		if s.at(t) {
			return t
		}
		t = s.skip(t, before)
	}
	return time.Time{} // Parse has refused what never comes
}

// Last is the last time, not after until and not before since, at which the schedule came, if it did.
func (s Schedule) Last(since, until time.Time) (last time.Time, found bool) {
	for t := s.Next(since.Add(-time.Nanosecond)); !t.IsZero() && !t.After(until); t = s.Next(t) {
		last, found = t, true
	}
	return last, found
}

// skip returns the last minute from t on, which is no match, before the schedule may come: it never goes beyond the
// end of an hour or a day that has none, nor over a change of the clocks.
func (s Schedule) skip(t, before time.Time) time.Time {
	if offset(t) != offset(before) {
		return t
	}
	y, m, d := t.Date()
	var to time.Time
	switch {
	case !s.onDay(y, m, d):
		to = time.Date(y, m, d+1, 0, 0, 0, 0, s.zone)
	case !s.hour.has(t.Hour()):
		to = t.Add(time.Duration(60-t.Minute()) * time.Minute)
	default:
		return t
	}
	if to = to.Add(-time.Minute); !to.After(t) || offset(to) != offset(t) {
		return t
	}
	return to
}

// at reports whether the schedule comes at this minute.
func (s Schedule) at(t time.Time) bool {
	if s.clock(t) && (s.anyHour || !again(t)) {
		return true
	}
	return s.leftOut(t)
}

// clock reports whether clocks show a time of the schedule.
func (s Schedule) clock(t time.Time) bool {
	y, m, d := t.Date()
	return s.minute.has(t.Minute()) && s.hour.has(t.Hour()) && s.onDay(y, m, d)
}

func (s Schedule) onDay(y int, m time.Month, d int) bool {
	if !s.month.has(int(m)) {
		return false
	}
	day, weekday := s.day.has(d), s.weekday.has(int(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Weekday()))
	if s.anyDay || s.anyWeekday {
		return day && weekday
	}
	return day || weekday
}

// again reports whether clocks have shown this time of the day before: they were set back since.
func again(t time.Time) bool {
	for _, back := range []time.Duration{30 * time.Minute, time.Hour, 2 * time.Hour} {
		if earlier := t.Add(-back); offset(earlier)-offset(t) == int(back/time.Second) {
			return true
		}
	}
	return false
}

// leftOut reports whether clocks were set forward right before t, over a time of the schedule that is tied to an hour.
func (s Schedule) leftOut(t time.Time) bool {
	before := t.Add(-time.Minute)
	gap := offset(t) - offset(before)
	if gap <= 0 || s.anyHour {
		return false
	}
	wall := time.FixedZone("", offset(before))
	for missed := t.In(wall); gap > 0; gap -= 60 {
		if s.clock(missed) {
			return true
		}
		missed = missed.Add(time.Minute)
	}
	return false
}

func offset(t time.Time) int {
	_, seconds := t.Zone()
	return seconds
}
