package handlers

import (
	"math"
	"strings"

	"github.com/holdfast/holdfast/inventory"
)

// reading is what a reader of records asks for.
type reading struct {
	inventory.Query
	limit       int // 0 is all
	spreadsheet bool
}

// records reads what is asked of all records.
func (r *request) records() reading {
	ask := r.filters()
	r.cursor(func(text string) bool { ask.After = text; return mayBeCursor(text) })
	ask.Order = inventory.Order(r.choice("order", "asc", "desc") == "desc")
	return ask
}

// filters reads what every reader of records may ask.
func (r *request) filters() reading {
	ask := reading{limit: int(min(r.number("limit"), math.MaxInt)), spreadsheet: r.filled("escape") != ""}
	ask.Query = inventory.Query{
		Provider: r.filled("provider"), Category: r.filled("category"),
		ResourceType: r.filled("resource_type"), ResourceName: r.filled("resource_name"),
		Since: r.time("since"), Until: r.time("until"), Attributes: r.attributes(math.MaxInt),
	}
	if ask.spreadsheet {
		r.choice("escape", "spreadsheet")
	}
	return ask
}

// mayBeCursor keeps what can't be a cursor from the store.
func mayBeCursor(text string) bool {
	strange := func(r rune) bool { return r <= ' ' || r > '~' }
	return len(text) > 0 && len(text) <= maxCursor && !strings.ContainsFunc(text, strange)
}
