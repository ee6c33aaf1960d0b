package inventory

import (
	"encoding/json"

	"github.com/holdfast/holdfast/jsonscan"
)

// instance is a resource while its members go by.
type instance struct {
	index   int
	pointer string // to itself

	name      string
	nameGiven bool // rightly or wrongly
	// source is the member that its attributes are in, "attributes" or "properties".
	source     string
	inside     bool // of that member
	count      int  // of attributes
	attributes json.RawMessage
	// What its attributes call it, if they do.
	nameAttribute, idAttribute string
}

// given reports whether there is anything of a resource.
func (r *instance) given() bool { return r.nameGiven || r.source != "" }

// inResource takes what stands in the object of a resource, to which base steps lead.
func (p *parser) inResource(r *instance, v jsonscan.Value, base int) {
	depth := v.Path.Len() - base
	switch name := v.Path.Name(base); string(name) {
	case "resource_name":
		if depth == 1 {
			p.resourceName(r, v)
		}
	case "attributes", "properties":
		switch depth {
		case 1:
			p.attributes(r, v, string(name))
		case 2:
			p.attribute(r, v, v.Path.Name(base+1))
		default:
			p.below(r, v)
		}
	default:
		if depth == 1 && starts(v) && len(p.ignored) < maxIgnored {
			p.ignored = append(p.ignored, v.Path.Pointer())
		}
	}
}

func (p *parser) resourceName(r *instance, v jsonscan.Value) {
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
func (p *parser) attributes(r *instance, v jsonscan.Value, source string) {
	switch {
	case v.Kind == jsonscan.EndObject && r.inside:
		p.endAttributes(r, v)
	case !starts(v):
	case r.source != "":
		p.faults.add(v.Path, "does not stand beside %s, which means the same", r.source)
	case v.Kind == jsonscan.BeginObject:
		r.source, r.inside = source, true
	default:
		r.source = source
		p.faults.add(v.Path, "is an object")
	}
}

func (p *parser) endAttributes(r *instance, v jsonscan.Value) {
	r.inside = false
	if r.count > MaxAttributes {
		p.faults.add(v.Path, "has at most %d attributes", MaxAttributes)
	}
	r.attributes = Compact(v.Text)
}

// attribute takes one attribute.
func (p *parser) attribute(r *instance, v jsonscan.Value, key []byte) {
	if !r.inside || v.Kind == jsonscan.EndObject || v.Kind == jsonscan.EndArray {
		return
	}
	r.count++
	if len(key) == 0 || !runesWithin(key, MaxKey) {
		p.faults.add(v.Path, "has a name of 1 to %d characters", MaxKey)
	}
	switch string(key) {
	case "name":
		r.nameAttribute = callName(v)
	case "id":
		r.idAttribute = callName(v)
	}
	p.checkText(v)
}

// callName returns what a resource can be called: a text that is not too long, or the
// spelling of a number.
func callName(v jsonscan.Value) string {
	switch v.Kind {
	case jsonscan.String:
		if text, ok := textWithin(v.Text, MaxName); ok {
			return string(text)
		}
	case jsonscan.Number:
		if len(v.Text) <= MaxName {
			return string(v.Text)
		}
	}
	return ""
}

// below takes what stands deeper in the attributes.
func (p *parser) below(r *instance, v jsonscan.Value) {
	if !r.inside || v.Kind == jsonscan.EndObject || v.Kind == jsonscan.EndArray {
		return
	}
	if !runesWithin(v.Path.Name(v.Path.Len()-1), MaxText) {
		p.faults.add(v.Path, "has a name of at most %d characters", MaxText)
	}
	p.checkText(v)
}

func (p *parser) checkText(v jsonscan.Value) {
	switch v.Kind {
	case jsonscan.String:
		if _, ok := textWithin(v.Text, MaxText); !ok {
			p.faults.add(v.Path, "is a string of at most %d characters", MaxText)
		}
	case jsonscan.Number:
		if len(v.Text) > MaxText {
			p.faults.add(v.Path, "is a number of at most %d characters", MaxText)
		}
	}
}
