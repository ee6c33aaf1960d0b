package cron_test

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/layers/cron"
)

func TestNext(t *testing.T) {
	t.Parallel()
	const berlin, newYork, lordHowe = "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"
	for _, c := range []struct{ schedule, zone, after, want string }{
		{"*/20 * * * *", "", "2026-01-01T00:00:00Z", "00:20 00:40 01:00"},
		{"*/20 * * * *", "", "2026-01-01T00:19:59Z", "00:20 00:40 01:00"},
		{"5/20 * * * *", "", "2026-01-01T00:00:00Z", "00:05 00:25 00:45 01:05"},
		{"0 22 * * mon-fri", berlin, "2026-01-02T20:59:00Z", "2026-01-02T22:00:00+01:00 2026-01-05T22:00:00+01:00"},
		{"30 9 1,15 * *", "", "2026-01-15T09:30:00Z", "2026-02-01T09:30:00Z 2026-02-15T09:30:00Z"},
		{"0 0 13 * 5", "", "2026-02-11T00:00:00Z", "2026-02-13T00:00:00Z 2026-02-20T00:00:00Z"}, // either is enough
		{"0 0 */2 * 5", "", "2026-02-11T00:00:00Z", "2026-02-13T00:00:00Z 2026-02-27T00:00:00Z"},
		{"0 0 29 2 *", "", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z 2032-02-29T00:00:00Z"},
		{"0 0 29 2 *", "", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z"},
		{"0 3 * * 7", "", "2026-01-01T00:00:00Z", "2026-01-04T03:00:00Z 2026-01-11T03:00:00Z"},
		{"@monthly", "", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"},
		// Clocks are set forward, from 02:00 to 03:00.
		{"30 2 * * *", berlin, "2026-03-28T12:00:00Z", "2026-03-29T03:00:00+02:00 2026-03-30T02:30:00+02:00"},
		{"0,30 2 * * *", berlin, "2026-03-28T12:00:00Z", "2026-03-29T03:00:00+02:00 2026-03-30T02:00:00+02:00"},
		{"0 3 * * *", berlin, "2026-03-28T12:00:00Z", "2026-03-29T03:00:00+02:00 2026-03-30T03:00:00+02:00"},
		{"*/30 * * * *", berlin, "2026-03-29T00:30:00Z", "2026-03-29T03:00:00+02:00 2026-03-29T03:30:00+02:00"},
		{"15 * * * *", berlin, "2026-03-29T00:15:00Z", "2026-03-29T03:15:00+02:00"},
		{"30 2 * * 0", newYork, "2026-03-07T12:00:00Z", "2026-03-08T03:00:00-04:00 2026-03-15T02:30:00-04:00"},
		{"15 2 * * *", lordHowe, "2026-10-03T00:00:00Z", "2026-10-04T02:30:00+11:00"},
		// And back, from 03:00 to 02:00.
		{"30 2 * * *", berlin, "2026-10-24T12:00:00Z", "2026-10-25T02:30:00+02:00 2026-10-26T02:30:00+01:00"},
		{"30 * * * *", berlin, "2026-10-25T00:00:00Z",
			"2026-10-25T02:30:00+02:00 2026-10-25T02:30:00+01:00 2026-10-25T03:30:00+01:00"},
		{"45 1 * * *", lordHowe, "2026-04-04T12:00:00Z", "2026-04-05T01:45:00+11:00 2026-04-06T01:45:00+10:30"},
	} {
		at, err := time.Parse(time.RFC3339, c.after)
		if err != nil {
			t.Fatal(err)
		}
		schedule, err := cron.Parse(c.schedule, c.zone)
		if err != nil {
			t.Fatal(err)
		}
		for want := range strings.FieldsSeq(c.want) {
			at = schedule.Next(at)
			form := time.RFC3339
			if len(want) == len("00:00") {
				form = "15:04"
			}
			if got := at.Format(form); got != want {
				t.Errorf("%s in %q from %s: %s, want %s", c.schedule, c.zone, c.after, got, want)
			}
		}
	}
}

// A day of every minute shows what Next may have left out: the schedule comes where a minute of it is shown first.
func TestNextLeavesNothingOut(t *testing.T) {
	t.Parallel()
	schedule, err := cron.Parse("7-59/13 0,2,3,23 * 3,10 *", "Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	zone, _ := time.LoadLocation("Europe/Berlin")
	for _, begin := range []time.Time{time.Date(2026, 3, 28, 0, 0, 0, 0, zone), time.Date(2026, 10, 24, 0, 0, 0, 0,
		zone)} {
		next, end := schedule.Next(begin), begin.Add(72*time.Hour)
		for m := begin.Add(time.Minute); m.Before(end); m = m.Add(time.Minute) {
			if got := schedule.Next(m.Add(-time.Second)); got.Equal(m) != next.Equal(m) {
				t.Fatalf("at %s: %s, before it %s", m, got, next)
			} else if got.Equal(m) {
				next = schedule.Next(m)
			}
		}
	}
}

func TestLast(t *testing.T) {
	t.Parallel()
	schedule, err := cron.Parse("0 22 * * *", "")
	if err != nil {
		t.Fatal(err)
	}
	at := func(hour int) time.Time { return time.Date(2026, 1, 2, hour, 0, 0, 0, time.UTC) }
	if last, found := schedule.Last(at(0), at(22)); !found || !last.Equal(at(22)) {
		t.Error(last, found)
	}
	if last, found := schedule.Last(at(22), at(23)); !found || !last.Equal(at(22)) {
		t.Error(last, found)
	}
	if _, found := schedule.Last(at(0), at(21)); found {
		t.Error("it came at no time")
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ schedule, zone, want string }{
		{"", "", "0 fields"},
		{"* * * *", "", "4 fields"},
		{"60 * * * *", "", "minute"},
		{"* 24 * * *", "", "hour"},
		{"* * 0 * *", "", "day"},
		{"* * * 13 *", "", "month"},
		{"* * * * 8", "", "weekday"},
		{"*/0 * * * *", "", "step"},
		{"*/x * * * *", "", "step"},
		{"9-5 * * * *", "", "ends before"},
		{"+5 * * * *", "", "minute"},
		{"0 0 30 2 *", "", "never comes"},
		{"0 0 31 4,6 *", "", "never comes"},
		{"0 0 1 1 *", "Mars/Olympus", "time zone"},
		{"0 0 1 1 *", "Local", "time zone"},
		{"0 0 1 1 *", "../etc/passwd", "time zone"},
		{strings.Repeat("1,", 200) + "1 * * * *", "", "longer"},
	} {
		if _, err := cron.Parse(c.schedule, c.zone); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q in %q: %v, want %q", c.schedule, c.zone, err, c.want)
		}
	}
}
