package handlers

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

const (
	attributePrefix = "attr."
	maxCursor       = 128
	// maxShown is how many bytes of a parameter's name are repeated to its sender, and in the
	// log: less than what is secret of a key that got there.
	maxShown = 25
)

// reading is what a reader asks for.
type reading struct {
	inventory.Query
	limit       int // 0 is all
	spreadsheet bool
}

// parseReading reads the query string. Only the known parameters are allowed: to pass
// over a misspelt filter would return what was not asked for.
func parseReading(raw string, known []string) (reading, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return reading{}, fault.New(fault.ParameterInvalid, "the query string can't be read; percent-encode what is special in it")
	}
	if err := onlyKnown(values, known); err != nil {
		return reading{}, err
	}
	r := reading{Query: inventory.Query{Attributes: map[string]string{}}}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if len(values[name]) > 1 {
			return reading{}, fault.New(fault.ParameterInvalid, "the query has more than one %q", name[:min(len(name), maxShown)])
		}
		if err := r.set(name, values[name][0]); err != nil {
			return reading{}, err
		}
	}
	return r, nil
}

// filters are the parameters that every reading takes.
func filters() []string {
	return []string{"provider", "category", "resource_type", "resource_name", "since", "until", attributePrefix, "limit", "escape"}
}

func onlyKnown(values url.Values, known []string) error {
	var unknown []string
	for name := range values {
		if strings.HasPrefix(name, attributePrefix) {
			name = attributePrefix
		}
		if !slices.Contains(known, name) {
			unknown = append(unknown, strconv.Quote(name[:min(len(name), maxShown)]))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	unknown = unknown[:min(len(unknown), 10)]
	return fault.New(fault.ParameterInvalid, "the query has parameters that are unknown here: %s", strings.Join(unknown, ", "))
}

func (r *reading) set(name, value string) (err error) {
	if !utf8.ValidString(name+value) || strings.ContainsRune(name+value, 0) {
		return fault.New(fault.ParameterInvalid, "the query's %q is not text in UTF-8", name[:min(len(name), maxShown)])
	}
	if key, ok := strings.CutPrefix(name, attributePrefix); ok && key != "" {
		r.Attributes[key] = value
		return nil
	}
	if value == "" || name == attributePrefix {
		return fault.New(fault.ParameterInvalid, "the query's %q is empty", name)
	}
	switch name {
	case "provider":
		r.Provider = value
	case "category":
		r.Category = value
	case "resource_type":
		r.ResourceType = value
	case "resource_name":
		r.ResourceName = value
	case "since":
		r.Since, err = parseTime(name, value)
	case "until":
		r.Until, err = parseTime(name, value)
	case "limit":
		r.limit, err = parseLimit(value)
	case "cursor":
		r.After, err = parseCursor(value)
	case "order":
		r.Order, err = parseOrder(value)
	case "escape":
		r.spreadsheet = true
		err = oneOf(name, value, "spreadsheet")
	}
	return err
}

func parseTime(name, value string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return time.Time{}, fault.New(fault.ParameterInvalid, "the query's %s is not a time as in RFC 3339, such as 2026-01-31T12:00:00Z; send a + in it as %%2B", name)
	}
	if at.IsZero() { // which stands for no time; nothing happened between the two
		at = at.Add(1)
	}
	return at, nil
}

func parseLimit(value string) (int, error) {
	limit, err := strconv.Atoi(value)
	if err != nil || limit < 1 {
		return 0, fault.New(fault.ParameterInvalid, "the query's limit is not a number of 1 or more")
	}
	return limit, nil
}

// parseCursor keeps what can't be a cursor from the store.
func parseCursor(value string) (string, error) {
	strange := func(r rune) bool { return r <= ' ' || r > '~' }
	if len(value) > maxCursor || strings.ContainsFunc(value, strange) {
		return "", fault.New(fault.CursorInvalid, "the cursor is not one that this server gave")
	}
	return value, nil
}

func parseOrder(value string) (inventory.Order, error) {
	return inventory.Order(value == "desc"), oneOf("order", value, "asc", "desc")
}

func oneOf(name, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fault.New(fault.ParameterInvalid, "the query's %s is not %s", name, strings.Join(allowed, " or "))
}
