package resourceindex

import "github.com/holdfast/holdfast/resources"

// where is a condition with its arguments. Its texts are ours; what comes from callers is
// always an argument.
type where struct {
	text string
	args []any
}

func (w *where) add(condition string, args ...any) {
	if w.text != "" {
		w.text += " AND "
	}
	w.text += condition
	w.args = append(w.args, args...)
}

// equal adds a filter that may be empty.
func (w *where) equal(column, value string) {
	if value != "" {
		w.add(column+" = ?", value)
	}
}

// after continues behind a place.
func (w *where) after(p resources.Place) {
	if p != (resources.Place{}) {
		w.add("(r.source, r.state, r.address) > (?, ?, ?)", numberOf(p.Source), string(p.State), p.Address)
	}
}

// states is the condition that a state is one that the caller may see.
func (v view) states(column string) where {
	var w where
	if v.all {
		w.add("TRUE")
	} else {
		w.add(column+" IN (SELECT value FROM json_each(?))", v.names)
	}
	return w
}

// visible is the condition that the caller may see a resource, and that it is shown.
func (v view) visible(table string) where {
	var w where
	w.add(table+".org = ?", v.org)
	s := v.states(table + ".state")
	w.add("(CASE "+table+".source WHEN 0 THEN "+s.text+" ELSE ? END)", append(s.args, v.uploads)...)
	w.add("EXISTS (SELECT 1 FROM holdings WHERE holdings.id = " + table + ".holding AND holdings.live = 1)")
	return w
}
