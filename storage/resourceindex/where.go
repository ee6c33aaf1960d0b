package resourceindex

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
