package resourceindex

import "github.com/holdfast/holdfast/resources"

// page gathers what a call returns.
type page[T any] struct {
	limit int
	found []T
	bytes int64
	full  bool // there is one that does not fit
}

// add takes one more, which takes so many bytes. It returns false if that does not fit.
func (p *page[T]) add(one T, bytes int64) bool {
	p.bytes += bytes
	if n := len(p.found); n == p.limit || n > 0 && p.bytes > resources.PageBytes {
		p.full = true
		return false
	}
	p.found = append(p.found, one)
	return true
}
