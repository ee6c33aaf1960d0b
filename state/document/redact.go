package document

import (
	"cmp"
	"io"
	"slices"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// WriteRedacted writes the body with sensitive values masked, and otherwise byte for byte
// as it is. Three things go with them: an output that is masked has the type string, so
// that clients can read the state; an instance's private, which is the provider's own and
// closed to us, is emptied; and a path in sensitive_attributes that can't be followed is
// cut to the attribute, because it may itself hold a value.
//
// Errors are those of Parse, before anything is written, or w's.
func WriteRedacted(w io.Writer, body []byte, memory Memory) error {
	if _, err := ParseWithin(body, memory); err != nil {
		return err
	}
	r := redaction{body: body, out: pieces{w: w}, cursor: jsonscan.NewCursor(body, jsonscan.Limits{})}
	r.members(func(name string) {
		switch name {
		case "outputs":
			r.values(r.output)
		case "resources":
			r.members(func(string) { r.members(r.resource) })
		}
	})
	r.out.bytes(body[r.done:])
	return r.out.err
}

// redaction copies a body that Parse has taken, and puts spans in the place of what it has.
type redaction struct {
	body   []byte
	out    pieces
	done   int              // what is before it was written
	cursor *jsonscan.Cursor // over the body, as far down as the format's own objects
}

// members goes into the value at the cursor.
func (r *redaction) members(visit func(name string)) {
	_ = r.cursor.Each(func(c jsonscan.Child) error {
		visit(string(c.Name))
		return r.out.err
	})
}

// values takes the children of the value at the cursor whole.
func (r *redaction) values(visit func(jsonscan.Child)) {
	_ = r.cursor.Each(func(c jsonscan.Child) error {
		raw, err := r.cursor.Value()
		if err != nil {
			return err
		}
		c.End = c.Start + len(raw)
		visit(c)
		return r.out.err
	})
}

// each calls visit for the children of the value from start to end, with offsets in the body.
func (r *redaction) each(start, end int, visit func(jsonscan.Child)) {
	_ = jsonscan.Children(r.body[start:end], func(c jsonscan.Child) error {
		c.Start += start
		c.End += start
		visit(c)
		return r.out.err
	})
}

// replace writes what stands before the spans, and their texts.
func (r *redaction) replace(spans []span) {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	for _, s := range spans {
		r.out.bytes(r.body[r.done:s.start])
		r.out.write(s.text)
		r.done = s.end
	}
}

func (r *redaction) output(output jsonscan.Child) {
	sensitive := false
	var spans []span
	r.each(output.Start, output.End, func(c jsonscan.Child) {
		switch string(c.Name) {
		case "sensitive":
			sensitive = r.body[c.Start] == 't'
		case "value":
			spans = append(spans, span{c.Start, c.End, Masked})
		case "type":
			spans = append(spans, span{c.Start, c.End, `"string"`})
		}
	})
	if sensitive {
		r.replace(spans)
	}
}

func (r *redaction) resource(name string) {
	if name == "instances" {
		r.values(r.instance)
	}
}

func (r *redaction) instance(instance jsonscan.Child) {
	var i Instance
	if i.read(jsonscan.NewCursor(r.body[instance.Start:instance.End], jsonscan.Limits{})) != nil {
		return // Parse has read it before
	}
	marks := i.marks()
	var spans []span
	r.each(instance.Start, instance.End, func(c jsonscan.Child) {
		raw := r.body[c.Start:c.End]
		switch string(c.Name) {
		case "attributes":
			if raw[0] == '{' {
				spans = marks.spans(raw, c.Start, spans)
			}
		case "attributes_flat":
			if raw[0] == '{' && marks != nil {
				spans = maskOfAll(raw).spans(raw, c.Start, spans)
			}
		case "identity":
			spans = i.identityMarks(marks).spans(raw, c.Start, spans)
		case "sensitive_attributes":
			if shown := i.shownMarks(); shown != nil {
				spans = append(spans, span{c.Start, c.End, string(shown)})
			}
		case "private":
			if raw[0] != 'n' {
				spans = append(spans, span{c.Start, c.End, `""`})
			}
		}
	})
	r.replace(spans)
}
