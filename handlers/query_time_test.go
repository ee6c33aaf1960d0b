package handlers

import "testing"

// A time that Go has for none is one all the same for who asks: nothing is that old.
func TestTheFirstTimeIsATime(t *testing.T) {
	q := parseQuery("until=0001-01-01T00:00:00Z", []string{"until"}, false)
	at, err := q.time("until"), q.err()
	if err != nil || at.IsZero() || at.Year() != 1 {
		t.Errorf("%v, %v; want a time in the year 1", at, err)
	}
}
