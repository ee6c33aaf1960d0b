package cron

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// Schedule is when something comes, in a time zone. Make it with Parse.
type Schedule struct {
	minute, hour, day, month, weekday set
	// anyHour says that the schedule goes on through all hours: an hour that comes twice has it twice.
	anyHour bool
	// anyDay and anyWeekday say that the field begins with *: only the other one counts then.
	anyDay, anyWeekday bool
	zone               *time.Location
}

// set has a bit for each number.
type set uint64

func (s set) has(n int) bool { return s&(1<<uint(n)) != 0 }

// field is what one of the five may have.
type field struct {
	name     string
	min, max int
	names    []string // of the numbers from min on
}

// maxText is how long a schedule may be.
const maxText = 200

// Parse reads a schedule such as "0 22 * * 1-5" in a time zone such as Europe/Berlin; the empty zone is UTC. It
// knows lists, ranges, steps, the English names of months and weekdays by three letters, 7 for Sunday, and @hourly,
// @daily, @weekly, @monthly and @yearly. As in cron, either of day and weekday is enough where both are limited.
func Parse(text, zone string) (Schedule, error) {
	if len(text) > maxText {
		return Schedule{}, fmt.Errorf("the schedule is longer than %d bytes", maxText)
	}
	if zone == "Local" {
		return Schedule{}, fmt.Errorf("the time zone %q is the server's own: name one", zone)
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return Schedule{}, fmt.Errorf("the time zone %q is not known", zone)
	}
	parts := strings.Fields(expand(strings.TrimSpace(text)))
	if len(parts) != len(fields()) {
		return Schedule{}, fmt.Errorf("the schedule %q has %d fields; it takes 5: minute, hour, day, month, weekday", text,
			len(parts))
	}
	made := Schedule{zone: loc, anyHour: strings.HasPrefix(parts[1], "*"), anyDay: strings.HasPrefix(parts[2], "*"),
		anyWeekday: strings.HasPrefix(parts[4], "*")}
	for i, f := range fields() {
		found, err := f.parse(parts[i])
		if err != nil {
			return Schedule{}, fmt.Errorf("the schedule %q: %w", text, err)
		}
		*[]*set{&made.minute, &made.hour, &made.day, &made.month, &made.weekday}[i] = found
	}
	if made.weekday.has(7) {
		made.weekday |= 1
	}
	if !made.comes() {
		return Schedule{}, fmt.Errorf("the schedule %q never comes: no month of it has such a day", text)
	}
	return made, nil
}

func expand(text string) string {
	switch text {
	case "@hourly":
		return "0 * * * *"
	case "@daily", "@midnight":
		return "0 0 * * *"
	case "@weekly":
		return "0 0 * * 0"
	case "@monthly":
		return "0 0 1 * *"
	case "@yearly", "@annually":
		return "0 0 1 1 *"
	}
	return text
}

func fields() [5]field {
	months := []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
	days := []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
	return [5]field{{"minute", 0, 59, nil}, {"hour", 0, 23, nil}, {"day", 1, 31, nil}, {"month", 1, 12, months},
		{"weekday", 0, 7, days}}
}

func (f field) parse(text string) (all set, err error) {
	for item := range strings.SplitSeq(text, ",") {
		some, err := f.item(item)
		if err != nil {
			return 0, err
		}
		all |= some
	}
	return all, nil
}

// item is *, a number or a range, each with or without a step.
func (f field) item(text string) (set, error) {
	span, stepText, stepped := strings.Cut(text, "/")
	from, to, step := f.min, f.max, 1
	var err error
	if stepped {
		if step, err = strconv.Atoi(stepText); err != nil || step < 1 || step > f.max {
			return 0, fmt.Errorf("%q is no step of the %s", stepText, f.name)
		}
	}
	if span != "*" {
		first, last, ranged := strings.Cut(span, "-")
		if from, err = f.number(first); err != nil {
			return 0, err
		}
		switch {
		case ranged:
			if to, err = f.number(last); err != nil {
				return 0, err
			}
		case !stepped:
			to = from
		}
	} else if f.name == "weekday" {
		to = 6
	}
	if from > to {
		return 0, fmt.Errorf("the %s %q ends before it begins", f.name, span)
	}
	var all set
	for n := from; n <= to; n += step {
		all |= 1 << uint(n)
	}
	return all, nil
}

func (f field) number(text string) (int, error) {
	for i, name := range f.names {
		if strings.EqualFold(text, name) {
			return f.min + i, nil
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < f.min || n > f.max || strings.HasPrefix(text, "+") {
		return 0, fmt.Errorf("the %s is %d to %d, not %q", f.name, f.min, f.max, text)
	}
	return n, nil
}

// comes reports whether there is a day on which the schedule comes. Weekdays come in every month.
func (s Schedule) comes() bool {
	if !s.anyWeekday || s.anyDay {
		return true
	}
	first := bits.TrailingZeros64(uint64(s.day))
	for month, days := range []int{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31} {
		if s.month.has(month+1) && first <= days {
			return true
		}
	}
	return false
}
