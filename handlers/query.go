package handlers

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/holdfast/holdfast/fault"
)

const (
	attributePrefix = "attr."
	maxCursor       = 128
	// maxShown is how many bytes of a parameter's name are repeated to its sender, and in the
	// log: less than what is secret of a key that got there.
	maxShown = 25
)

// query is a query string, read parameter by parameter. Each may be there once, and is text.
// What can't be read is remembered as the first fault; the getters go on, so that a handler asks
// once, at the end, by err: it refuses parameters that are unknown, because to pass over a misspelt
// filter would return what was not asked for. Known are those that the description of the route
// has. A getter finds no other one, so that none is read that isn't described.
type query struct {
	values url.Values
	known  []string
	// others says that unknown parameters are the user's own, such as ref=main in the address of
	// a state. One that is spelt like a known one, but for its case, is refused: a lock's ID that
	// got lost would turn a holder's write into an unlocked one.
	others bool
	fault  error
}

func parseQuery(raw string, known []string, others bool) query {
	q := query{known: known, others: others}
	if raw == "" {
		return q
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		q.invalid("the query can't be read; percent-encode what is special in it")
		return q
	}
	q.values = values
	return q
}

// err returns why the query can't be answered; nil if it can.
func (q *query) err() error {
	if err := q.strangers(); err != nil {
		return err
	}
	return q.fault
}

// strangers are parameters that are not known.
func (q *query) strangers() error {
	var unknown []string
	for name := range q.values {
		if strings.HasPrefix(name, attributePrefix) {
			name = attributePrefix
		}
		if slices.Contains(q.known, name) {
			continue
		}
		if !q.others {
			unknown = append(unknown, shown(name))
			continue
		}
		if i := slices.IndexFunc(q.known, func(known string) bool { return strings.EqualFold(known, name) }); i >= 0 {
			return fault.New(fault.ParameterInvalid, "the query has %q; it is spelt %s", name, q.known[i])
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	unknown = unknown[:min(len(unknown), 10)]
	return fault.New(fault.ParameterInvalid, "the query has parameters that are unknown here: %s",
		strings.Join(unknown, ", "))
}

func shown(name string) string { return strconv.Quote(name[:min(len(name), maxShown)]) }

// fail remembers the first fault.
func (q *query) fail(err error) {
	if q.fault == nil {
		q.fault = err
	}
}

func (q *query) invalid(format string, args ...any) {
	q.fail(fault.New(fault.ParameterInvalid, format, args...))
}

// get returns a parameter, and whether it was given and is text.
func (q *query) get(name string) (value string, given bool) {
	values := q.values[name]
	switch {
	case len(values) == 0 || !slices.Contains(q.known, name):
		return "", false
	case len(values) > 1:
		q.invalid("the query has more than one %q", name)
	case !isText(values[0]):
		q.invalid("the query's %q is not text in UTF-8", name)
	default:
		return values[0], true
	}
	return "", false
}

func isText(value string) bool { return utf8.ValidString(value) && !strings.ContainsRune(value, 0) }

// text returns a parameter; empty without one.
func (q *query) text(name string) string {
	value, _ := q.get(name)
	return value
}

// filled is text that is not empty where it is given.
func (q *query) filled(name string) string {
	value, given := q.get(name)
	if given && value == "" {
		q.invalid("the query's %q is empty", name)
	}
	return value
}

// choice returns one of the allowed values; the first of them without one.
func (q *query) choice(name string, allowed ...string) string {
	value, given := q.get(name)
	if !given {
		return allowed[0]
	}
	if !slices.Contains(allowed, value) {
		q.invalid("the query's %s is not %s", name, strings.TrimPrefix(strings.Join(allowed, " or "), " or "))
	}
	return value
}

// flag returns a boolean; one without a value, as in ?raw, is true.
func (q *query) flag(name string) bool {
	value, given := q.get(name)
	if !given || value == "" {
		return given
	}
	set, err := strconv.ParseBool(value)
	if err != nil {
		q.invalid("the query's %s is neither true nor false", name)
	}
	return set
}

// said is a flag of what changes something: it must say whether it is set.
func (q *query) said(name string) bool {
	if value, given := q.values[name]; given && len(value) == 1 && value[0] == "" {
		q.invalid("the query's %s is neither true nor false", name)
	}
	return q.flag(name)
}

// count returns a number of 0 or more, as parameters of countOf are; 0 without one.
func (q *query) count(name string) uint64 {
	value, given := q.get(name)
	if !given {
		return 0
	}
	n, err := strconv.ParseUint(value, 10, 63)
	if err != nil {
		q.invalid("the query's %s is not a number of 0 or more", name)
	}
	return n
}

// number returns a number of 1 or more, as parameters of numberOf are; 0 without one.
func (q *query) number(name string) uint64 {
	value, given := q.get(name)
	if !given {
		return 0
	}
	n, err := strconv.ParseUint(value, 10, 63)
	if err != nil || n == 0 {
		q.invalid("the query's %s is not a number of 1 or more", name)
	}
	return n
}

// The size of a page: what it is without a limit, and at most.
const (
	defaultPage = 100
	maxPage     = 1000
)

// limit returns the size of a page.
func (q *query) limit() int {
	n := q.number("limit")
	switch {
	case n == 0:
		return defaultPage
	case n > maxPage:
		q.invalid("the query's limit is above %d", maxPage)
	}
	return int(min(n, maxPage))
}

// time returns a time; the zero time without one.
func (q *query) time(name string) time.Time {
	value, given := q.get(name)
	if !given {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, value)
	if err != nil {
		q.invalid("the query's %s is not a time as in RFC 3339, such as 2026-01-31T12:00:00Z; send a + in it as %%2B", name)
	} else if at.IsZero() { // which stands for no time; nothing happened between the two
		at = at.Add(1)
	}
	return at
}

// cursor hands a cursor that was given to read, which reports whether this server gave it.
func (q *query) cursor(read func(text string) bool) {
	if text, given := q.get("cursor"); given && !read(text) {
		q.fail(fault.New(fault.CursorInvalid, "the cursor is not one that this server gave"))
	}
}

// attributes returns the filters attr.<name>, at most so many; their names are the caller's.
func (q *query) attributes(most int) map[string]string {
	found := map[string]string{}
	if !slices.Contains(q.known, attributePrefix) {
		return found
	}
	for key, given := range q.values {
		name, ok := strings.CutPrefix(key, attributePrefix)
		switch {
		case !ok:
			continue
		case name == "":
			q.invalid("the query's %q is empty", attributePrefix)
		case len(given) > 1:
			q.invalid("the query has more than one %s", shown(key))
		case !isText(name) || !isText(given[0]):
			q.invalid("the query's %s is not text in UTF-8", shown(key))
		case len(found) == most:
			q.invalid("the query has more than %d filters of attributes", most)
		default:
			found[name] = given[0]
		}
	}
	return found
}
