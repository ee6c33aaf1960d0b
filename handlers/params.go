package handlers

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/holdfast/holdfast/fault"
)

// pathValue returns what stands in a route's place of this name, as the client meant it: in
// a path, unlike a query, "+" is a plus sign. What can't be unescaped stays as it is, and is
// refused by whoever reads it: net/http accepts no such path.
func pathValue(c *gin.Context, name string) string {
	escaped := c.Param(name)
	if value, err := url.PathUnescape(escaped); err == nil {
		return value
	}
	return escaped
}

// params are the parameters of a query string, each of them known, there once, and text.
// What can't be read is remembered as the first fault; the getters go on, so that a
// handler asks once, at the end.
type params struct {
	values map[string]string
	fault  error
}

// readParams reads the query string of a route that knows these parameters.
func readParams(c *gin.Context, known ...string) *params {
	p := &params{values: map[string]string{}}
	values, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		p.fail("the query string can't be read; percent-encode what is special in it")
		return p
	}
	if err := onlyKnown(values, known); err != nil {
		p.fault = err
		return p
	}
	for _, name := range known {
		p.take(name, values[name])
	}
	return p
}

func (p *params) take(name string, given []string) {
	switch {
	case len(given) == 0:
		return
	case len(given) > 1:
		p.fail("the query has more than one %q", name)
	case !isText(given[0]):
		p.fail("the query's %q is not text in UTF-8", name)
	default:
		p.values[name] = given[0]
	}
}

func isText(value string) bool { return utf8.ValidString(value) && !strings.ContainsRune(value, 0) }

func (p *params) fail(format string, args ...any) {
	if p.fault == nil {
		p.fault = fault.New(fault.ParameterInvalid, format, args...)
	}
}

// text returns a parameter; empty without one.
func (p *params) text(name string) string { return p.values[name] }

// choice returns one of the allowed values; the first of them without one.
func (p *params) choice(name string, allowed ...string) string {
	value, given := p.values[name]
	if !given {
		return allowed[0]
	}
	if !slices.Contains(allowed, value) {
		p.fail("the query's %s is not %s", name, strings.TrimPrefix(strings.Join(allowed, " or "), " or "))
	}
	return value
}

// flag returns a boolean; one without a value, as in ?raw, is true.
func (p *params) flag(name string) bool {
	value, given := p.values[name]
	if !given || value == "" {
		return given
	}
	set, err := strconv.ParseBool(value)
	if err != nil {
		p.fail("the query's %s is neither true nor false", name)
	}
	return set
}

// number returns a number of 1 or more; 0 without one.
func (p *params) number(name string) uint64 {
	value, given := p.values[name]
	if !given {
		return 0
	}
	n, err := strconv.ParseUint(value, 10, 63)
	if err != nil || n == 0 {
		p.fail("the query's %s is not a number of 1 or more", name)
	}
	return n
}

// The size of a page: what it is without a limit, and at most.
const (
	defaultPage = 100
	maxPage     = 1000
)

// limit returns the size of a page.
func (p *params) limit() int {
	n := p.number("limit")
	switch {
	case n == 0:
		return defaultPage
	case n > maxPage:
		p.fail("the query's limit is above %d", maxPage)
	}
	return int(min(n, maxPage))
}

// time returns a time; the zero time without one.
func (p *params) time(name string) time.Time {
	value, given := p.values[name]
	if !given {
		return time.Time{}
	}
	at, err := parseTime(name, value)
	if err != nil && p.fault == nil {
		p.fault = err
	}
	return at
}
