package inventory

import (
	"encoding/json"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// instance is a resource while its members go by.
type instance struct {
	index     int
	name      string
	nameGiven bool // rightly or wrongly
	// source is the member that its attributes are in, "attributes" or "properties".
	source     string
	count      int // of attributes
	attributes json.RawMessage
	// What its attributes call it, if they do: values as they stand in the upload.
	nameAttribute, idAttribute []byte
}

// given reports whether there is anything of a resource.
func (r *instance) given() bool { return r.nameGiven || r.source != "" }

// inResource takes what stands in the object of a resource, to which base steps lead.
func (p *parser) inResource(r *instance, v *jsonscan.Value, base int) {
	depth := v.Path.Len() - base
	switch string(v.Path.Name(base)) {
	case "resource_name":
		if depth == 1 {
			p.resourceName(r, v)
		}
	case "attributes":
		if depth == 1 {
			p.attributes(r, v, "attributes")
		}
	case "properties":
		if depth == 1 {
			p.attributes(r, v, "properties")
		}
	default:
		if depth == 1 && starts(v) && len(p.ignored) < maxIgnored {
			p.ignored = append(p.ignored, v.Path.Pointer())
		}
	}
}

func (p *parser) resourceName(r *instance, v *jsonscan.Value) {
	if !starts(v) {
		return
	}
	r.nameGiven = true
	text, ok := textWithin(v.Text, MaxName)
	if v.Kind != jsonscan.String || !ok || len(text) == 0 {
		p.faults.add(v.Path, "is a string of 1 to %d characters", MaxName)
		return
	}
	r.name = string(text)
}

// attributes takes the object of attributes itself, when it opens and when it closes.
func (p *parser) attributes(r *instance, v *jsonscan.Value, source string) {
	switch {
	case v.Kind == jsonscan.EndObject && p.open != nil:
		p.endAttributes(r, v)
	case !starts(v):
	case r.source != "":
		p.faults.add(v.Path, "does not stand beside %s, which means the same", r.source)
	case v.Kind == jsonscan.BeginObject:
		r.source = source
		p.open, p.steps = r, v.Path.Len()
	default:
		r.source = source
		p.faults.add(v.Path, "is an object")
	}
}

func (p *parser) endAttributes(r *instance, v *jsonscan.Value) {
	p.open = nil
	if r.count > MaxAttributes {
		p.faults.add(v.Path, "has at most %d attributes", MaxAttributes)
	}
	r.attributes = v.Text
	if p.secrets != nil {
		r.attributes = p.secrets.mask(v.Text, v.Start)
	}
	if v.Spaced {
		r.attributes = Compact(r.attributes)
	}
}

// inAttributes takes what stands in the attributes of the open resource.
func (p *parser) inAttributes(v *jsonscan.Value) {
	if p.secrets != nil && p.secrets.visit(v) {
		p.faults.add(v.Path, "is a secret by its name, which this server does not take: leave it out")
	}
	switch last := v.Path.Len() - 1; {
	case v.Kind == jsonscan.EndObject || v.Kind == jsonscan.EndArray:
	case last == p.steps:
		p.attribute(p.open, v, v.Path.Name(last))
	default:
		p.below(v, v.Path.Name(last))
	}
}

// attribute takes one attribute.
func (p *parser) attribute(r *instance, v *jsonscan.Value, key []byte) {
	r.count++
	if len(key) == 0 || !runesWithin(key, MaxKey) {
		p.faults.add(v.Path, "has a name of 1 to %d characters", MaxKey)
	}
	switch string(key) {
	case "name":
		r.nameAttribute = v.Text
	case "id":
		r.idAttribute = v.Text
	}
	p.checkText(v)
}

// callName returns what a resource can be called after an attribute: a text that is not too
// long, or the spelling of a number; "" after any other, and after none.
func callName(value []byte) string {
	if text, ok := textWithin(value, MaxName); ok {
		return string(text)
	}
	if len(value) > 0 && len(value) <= MaxName && (value[0] == '-' || '0' <= value[0] && value[0] <= '9') {
		return string(value)
	}
	return ""
}

// below takes what stands deeper in the attributes.
func (p *parser) below(v *jsonscan.Value, key []byte) {
	if !runesWithin(key, MaxText) {
		p.faults.add(v.Path, "has a name of at most %d characters", MaxText)
	}
	p.checkText(v)
}

func (p *parser) checkText(v *jsonscan.Value) {
	switch v.Kind {
	case jsonscan.String:
		if len(v.Text) <= MaxText { // it has no more characters than bytes
			return
		}
		if _, ok := textWithin(v.Text, MaxText); !ok {
			p.faults.add(v.Path, "is a string of at most %d characters", MaxText)
		}
	case jsonscan.Number:
		if len(v.Text) > MaxText {
			p.faults.add(v.Path, "is a number of at most %d characters", MaxText)
		}
	}
}
