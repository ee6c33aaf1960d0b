package cost

import "github.com/holdfast/holdfast/insight/facts"

// Given is what another program says that resources cost, by their addresses.
type Given map[string]Costing

// Costing is what a resource costs a month before and after a plan, in US dollars, as far as that was said.
type Costing struct {
	Before, After       float64
	HasBefore, HasAfter bool
	Source              string
}

// With returns a sheet that goes by what another program says of a resource, where it says so.
func (s *Sheet) With(given Given) *Sheet { return &Sheet{s.byType, given} }

// of is what was said of a change. Both sides of it have to be known: of what is made, what it costs after, and of
// what is deleted, what it cost before.
func (g Given) of(c facts.Change) (after, before price, some bool) {
	said, known := g[c.Address]
	if !known || !isNull(c.After) && !said.HasAfter || !isNull(c.Before) && !said.HasBefore {
		return price{}, price{}, false
	}
	if !isNull(c.After) {
		after = price{monthly: said.After, source: said.Source}
	}
	if !isNull(c.Before) {
		before = price{monthly: said.Before, source: said.Source}
	}
	return after, before, true
}
