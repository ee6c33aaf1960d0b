package document

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// Paint colours a piece of text by what happened to what it stands for. It must not
// change the text otherwise.
type Paint func(action Action, text string) string

// WriteText writes the Diff as a person reads it, in the manner of a plan. Whatever stands
// in the state is written printable, so that it can't steer a terminal. paint may be nil.
func (d *Diff) WriteText(w io.Writer, paint Paint) error {
	return d.writeText(w, paint, nil, func(yield func(*ResourceChange, error) bool) {
		for i := range d.Resources {
			if !yield(&d.Resources[i], nil) {
				return
			}
		}
	})
}

// WriteText writes the text of the Diff of a and b without holding the Diff. An error is w's,
// or that of the Memory.
func WriteText(w io.Writer, a, b *Document, options Options, paint Paint) error {
	options = options.metered()
	return frame(a, b, options).writeText(w, paint, options.meter, Changes(a, b, options))
}

func (d *Diff) writeText(w io.Writer, paint Paint, in *meter, changes iter.Seq2[*ResourceChange, error]) error {
	r := renderer{out: pieces{w: w}, paint: paint, in: in, effort: effort{left: maxEffort}}
	r.header(d)
	seen := Summary{Outputs: len(d.Outputs)}
	for c, err := range changes {
		if err != nil {
			return err
		}
		seen.count(c)
		if r.resource(c); r.out.err != nil {
			return r.out.err
		}
	}
	if len(d.Outputs) > 0 {
		r.line("\nOutputs:")
	}
	for i := range d.Outputs {
		r.output(&d.Outputs[i])
	}
	if seen == (Summary{}) && d.Empty() {
		r.line("No changes.")
		return r.out.err
	}
	r.line("\n%s", seen)
	return r.out.err
}

// String is the last line of the text.
func (s Summary) String() string {
	text := fmt.Sprintf("%d added, %d changed, %d removed, %d moved", s.Added, s.Changed, s.Removed, s.Moved)
	switch s.Outputs {
	case 0:
		return text + "."
	case 1:
		return text + "; 1 output changed."
	}
	return fmt.Sprintf("%s; %d outputs changed.", text, s.Outputs)
}

type renderer struct {
	out    pieces
	paint  Paint
	in     *meter
	effort effort // for lines
}

// line writes one line. Its arguments are printable by now.
func (r *renderer) line(format string, args ...any) {
	if r.out.err == nil {
		_, r.out.err = fmt.Fprintf(r.out.w, format+"\n", args...)
	}
}

// mark returns the sign of an action.
func (r *renderer) mark(action Action) string {
	sign := "~"
	switch action {
	case Added:
		sign = "+"
	case Removed:
		sign = "-"
	}
	if r.paint == nil {
		return sign
	}
	return r.paint(action, sign)
}

func (r *renderer) header(d *Diff) {
	for _, h := range []struct {
		name   string
		change *Change
	}{{"terraform_version", d.TerraformVersion}, {"lineage", d.Lineage}, {"serial", d.Serial}} {
		if h.change != nil {
			r.line("  # %s: %s -> %s", h.name, shown(h.change.Before), shown(h.change.After))
		}
	}
	if d.Providers == nil {
		return
	}
	for _, source := range d.Providers.Added {
		r.line("  # provider %s is new", printable(source))
	}
	for _, source := range d.Providers.Removed {
		r.line("  # provider %s is gone", printable(source))
	}
}

func (r *renderer) resource(c *ResourceChange) {
	place := printable(c.Place.String())
	action := c.Action
	if action == Moved {
		r.line("  # %s has moved to %s", printable(c.Previous.String()), place)
		if c.Fields == nil && c.Attributes == nil {
			return
		}
		action = Changed
	}
	r.line("  %s %s {", r.mark(action), place)
	for _, f := range c.Fields {
		r.field(action, f)
	}
	for _, a := range c.Attributes {
		r.attribute(a)
	}
	r.line("    }")
}

// field writes a change that is not one of an attribute. Of an instance that came or went
// only that it is tainted is worth a line.
func (r *renderer) field(action Action, f FieldChange) {
	switch {
	case f.Field == FieldStatus.String() && string(f.After) == `"tainted"`:
		r.line("      # is tainted")
	case f.Field == FieldStatus.String() && action == Changed:
		r.line("      # is no longer tainted")
	case action == Changed:
		r.line("      # %s: %s -> %s", printable(f.Field), shown(f.Before), shown(f.After))
	}
}

// attribute writes a change, or, for all attributes at once, a line for each that is not null.
func (r *renderer) attribute(a AttributeChange) {
	if len(a.Path) > 0 {
		r.change("      ", a.Path, a)
		return
	}
	r.members(a.Before, func(raw json.RawMessage) Change { return Change{Before: raw} })
	r.members(a.After, func(raw json.RawMessage) Change { return Change{After: raw} })
}

func (r *renderer) members(object json.RawMessage, as func(json.RawMessage) Change) {
	if object == nil {
		return
	}
	_ = jsonscan.Children(object, func(c jsonscan.Child) error {
		if object[c.Start] != 'n' {
			r.value("      ", Path{stepTo(c)}.String(), as(object[c.Start:c.End]))
		}
		return r.out.err
	})
}

// change writes what became of a value that a path leads to: by what is in it, as far as that is
// less than the whole.
func (r *renderer) change(indent string, path Path, a AttributeChange) {
	name := path.String()
	switch {
	case len(a.Inside) > 0:
		r.line("%s%s %s (JSON)", indent, r.mark(Changed), printable(name))
		for _, inside := range a.Inside {
			r.change(indent+"    ", inside.Path, inside)
		}
	case a.Before == nil || a.After == nil:
		r.value(indent, name, a.Change)
	case sameInside(a.Before, a.After, r.in):
		r.line("%s%s %s (the same JSON, written differently)", indent, r.mark(Changed), printable(name))
	case !r.lines(indent, name, a.Change):
		r.value(indent, name, a.Change)
	}
	if err := r.in.failed(); err != nil {
		r.out.err = err
	}
}

// value writes what became of a value, in one line.
func (r *renderer) value(indent, name string, c Change) {
	name = printable(name)
	switch {
	case c.Before == nil:
		r.line("%s%s %s = %s", indent, r.mark(Added), name, shown(c.After))
	case c.After == nil:
		r.line("%s%s %s = %s", indent, r.mark(Removed), name, shown(c.Before))
	default:
		r.line("%s%s %s = %s -> %s", indent, r.mark(Changed), name, shown(c.Before), shown(c.After))
	}
}
