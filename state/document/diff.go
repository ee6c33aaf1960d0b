package document

import (
	"encoding/json"
	"iter"
	"strconv"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// Options says what a Diff shows.
type Options struct {
	// Reveal shows sensitive values. Without it they are masked.
	Reveal bool
	// Memory is asked for what is made to compare, such as a map of an object's members,
	// before that is made: of many tiny ones it takes many times their own size. A nil Memory
	// has no bound.
	Memory Memory

	meter  *meter  // of Memory, for all of one comparison
	effort *effort // likewise
}

// metered returns the options of one comparison.
func (o Options) metered() Options {
	if o.effort == nil {
		o.effort = &effort{left: maxEffort}
	}
	if o.meter == nil && o.Memory != nil {
		o.meter = &meter{allowance: allowance{memory: o.Memory}}
	}
	return o
}

// Compare returns how a became b. Values are compared by what they say: white space, the
// order of members and the way to write a number don't count, but every digit does.
//
// Sensitive values that come or go are masked in a copy, so that a Diff can be as large as
// a state; WriteText and WriteJSON write the same without holding it.
func Compare(a, b *Document, options Options) *Diff {
	options.Memory, options.meter, options.effort = nil, nil, nil
	options = options.metered()
	d := frame(a, b, options)
	for c := range Changes(a, b, options) { // without a Memory it has no errors
		d.Resources = append(d.Resources, *c)
		d.Summary.count(c)
	}
	return d
}

// Changes returns the Resources of a Diff one by one. An error is the Memory's, and ends it.
func Changes(a, b *Document, options Options) iter.Seq2[*ResourceChange, error] {
	return changes(a, b, func(pair) bool { return true }, options)
}

// changes are the Changes of those pairs that are wanted.
func changes(a, b *Document, wanted func(pair) bool, options Options) iter.Seq2[*ResourceChange, error] {
	options = options.metered()
	in := options.meter
	return func(yield func(*ResourceChange, error) bool) {
		all, err := pairs(a, b, in)
		if err != nil {
			yield(nil, err)
			return
		}
		before := in.mark()
		for _, p := range all {
			if !wanted(p) {
				continue
			}
			c, differs := p.change(options)
			if err := in.failed(); err != nil {
				yield(nil, err)
				return
			}
			if differs && !yield(&c, nil) {
				return
			}
			in.backTo(before)
		}
	}
}

// frame returns all of a Diff but its Resources and their counts.
func frame(a, b *Document, options Options) *Diff {
	outputs := outputChanges(a, b, options)
	return &Diff{
		Masked:           !options.Reveal,
		Summary:          Summary{Outputs: len(outputs)},
		TerraformVersion: textChange(a.TerraformVersion, b.TerraformVersion),
		Lineage:          textChange(a.Lineage, b.Lineage),
		Serial:           serialChange(a.Serial, b.Serial),
		Providers:        providerChange(a, b),
		Resources:        []ResourceChange{},
		Outputs:          outputs,
	}
}

// change compares the two sides of a pair.
func (p pair) change(options Options) (ResourceChange, bool) {
	c := ResourceChange{Action: Changed}
	var none Instance
	before, after := p.before, p.after
	switch {
	case before == nil:
		c.Action, c.Place, before = Added, after.Place, &none
	case after == nil:
		c.Action, c.Place, after = Removed, before.Place, &none
	case before.compare(after.Place) != 0:
		c.Action, c.Place, c.Previous = Moved, after.Place, &before.Place
	default:
		c.Place = after.Place
	}
	c.Fields = fieldChanges(before, after, options)
	if !sameText(before.Attributes, after.Attributes) {
		c.Attributes = compareValues(before.Attributes, after.Attributes, marksOf(before, after, options), options)
	}
	return c, c.Action != Changed || c.Fields != nil || c.Attributes != nil
}

// marksOf returns what is sensitive on either side; what one side hides, no side shows.
func marksOf(before, after *Instance, options Options) *mask {
	if options.Reveal {
		return nil
	}
	for _, i := range [...]*Instance{before, after} {
		if options.meter.add(markFactor*int64(len(i.fields[FieldSensitive]))) != nil {
			return &mask{all: true} // of a comparison that ends here
		}
	}
	return before.marks().merge(after.marks())
}

func fieldChanges(before, after *Instance, options Options) []FieldChange {
	var all []FieldChange
	for f := range numFields {
		a, b := before.fields[f], after.fields[f]
		if same(a, b, options.meter) {
			continue
		}
		c := Change{Before: a, After: b}
		switch {
		case options.Reveal:
		case f == FieldSensitive:
			c = Change{Before: before.shownMarks(), After: after.shownMarks()}
		case f == FieldIdentity:
			c = identityChange(before, after)
		}
		all = append(all, FieldChange{Field: f.String(), Change: c})
	}
	return all
}

func textChange(a, b string) *Change {
	if a == b {
		return nil
	}
	return &Change{Before: jsonscan.AppendQuote(nil, a), After: jsonscan.AppendQuote(nil, b)}
}

func serialChange(a, b uint64) *Change {
	if a == b {
		return nil
	}
	number := func(n uint64) json.RawMessage { return strconv.AppendUint(nil, n, 10) }
	return &Change{Before: number(a), After: number(b)}
}

func (s *Summary) count(c *ResourceChange) {
	switch c.Action {
	case Added:
		s.Added++
	case Removed:
		s.Removed++
	case Moved:
		s.Moved++
		if c.Fields != nil || c.Attributes != nil {
			s.Changed++
		}
	default:
		s.Changed++
	}
}
