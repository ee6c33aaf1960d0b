package inventory

import (
	"github.com/holdfast/holdfast/internal/jsonscan"
)

// Upload is what the body of a request says.
type Upload struct {
	Resources []Resource
	// Ignored points to members that mean nothing in an upload; the first few of them.
	Ignored []string
	// Masked is how many secrets were left out.
	Masked int
}

// Parse is ParseWith, and accepts secrets.
func Parse(body []byte) (Upload, error) { return ParseWith(body, Secrets{}) }

// ParseWith reads an upload in one of two forms, which share provider, category and
// resource_type: a list of instances, or one resource with its resource_name and
// attributes beside those. "properties" is another word for "attributes". A member that
// is null counts as absent.
//
// A resource without a name is called after its attribute "name", else "id", else
// <resource_type>-<index>. One without attributes has none: {}. Attributes share body's memory
// where there is no white space and no masked secret in them: copying them cost a sixth of Parse. So body must not
// change as long as they are in use.
//
// It takes any bytes: that they are one JSON object in strict UTF-8, without duplicate names
// and NULs, and not deeper or more branched than an upload may be, it checks in the same
// pass. The error is a fault.UploadMalformed, or a fault.UploadInvalid with all that is
// wrong in its details.
func ParseWith(body []byte, secrets Secrets) (Upload, error) {
	p := parser{secrets: newSecretFinder(secrets)}
	if err := jsonscan.Walk(body, shapeLimits(), p.visit); err != nil {
		return Upload{}, malformed(err)
	}
	resources := p.resources()
	if err := p.faults.err(); err != nil {
		return Upload{}, err
	}
	upload := Upload{Resources: resources, Ignored: p.ignored}
	if p.secrets != nil {
		upload.Masked = p.secrets.count
	}
	return upload, nil
}

// parser collects an upload while its values go by. Members come in any order, so what
// depends on several waits for the end.
type parser struct {
	faults  faults
	ignored []string

	provider, category, resourceType word
	single                           instance   // what stands beside the words
	list                             []instance // those of "instances" that are objects
	// open is the resource whose attributes go by, and steps how many lead to these. Most
	// values of an upload are attributes: to know so without a look at the path again and
	// again takes a tenth off.
	open  *instance
	steps int

	secrets *secretFinder // nil for none that are looked for

	listGiven bool // rightly or wrongly
	elements  int  // of the list, objects or not
}

// word is provider, category or resource_type.
type word struct {
	text  string
	given bool // rightly or wrongly
}

func (p *parser) visit(v *jsonscan.Value) error {
	switch {
	case p.open != nil && v.Path.Len() > p.steps:
		p.inAttributes(v)
	case v.Path.Len() == 0:
	case string(v.Path.Name(0)) == "instances":
		p.inList(v)
	case v.Path.Len() == 1 && p.header(v):
	default:
		p.inResource(&p.single, v, 0)
	}
	return nil
}

// header takes the members that an upload has once, and returns false for others.
func (p *parser) header(v *jsonscan.Value) bool {
	switch string(v.Path.Name(0)) {
	case "provider":
		p.word(&p.provider, v)
	case "category":
		p.word(&p.category, v)
	case "resource_type":
		p.word(&p.resourceType, v)
	case "name": // of the report; nothing is made of it
		if starts(v) && v.Kind != jsonscan.String {
			p.faults.add(v.Path, "is a string")
		}
	default:
		return false
	}
	return true
}

// starts is true for a value when it first goes by, unless it is null.
func starts(v *jsonscan.Value) bool {
	return v.Kind != jsonscan.EndObject && v.Kind != jsonscan.EndArray && v.Kind != jsonscan.Null
}

func (p *parser) word(w *word, v *jsonscan.Value) {
	if !starts(v) {
		return
	}
	w.given = true
	text, ok := textWithin(v.Text, MaxWord)
	if v.Kind != jsonscan.String || !ok || !isWord(text) {
		p.faults.add(v.Path, "is a string of 1 to %d letters, digits, _ and -", MaxWord)
		return
	}
	w.text = string(text)
}

// inList takes "instances" and everything in it.
func (p *parser) inList(v *jsonscan.Value) {
	depth := v.Path.Len()
	switch {
	case depth == 1:
		p.listItself(v)
	case v.Path.Index(1) < 0: // not in an array
	case depth == 2:
		p.element(v)
	case v.Path.Name(2) != nil: // in an object, so it is the last of the list
		p.inResource(&p.list[len(p.list)-1], v, 2)
	}
}

func (p *parser) listItself(v *jsonscan.Value) {
	if v.Kind == jsonscan.EndArray && (p.elements == 0 || p.elements > MaxInstances) {
		p.faults.add(v.Path, "has 1 to %d instances", MaxInstances)
	}
	if !starts(v) {
		return
	}
	p.listGiven = true
	if v.Kind != jsonscan.BeginArray {
		p.faults.add(v.Path, "is an array of 1 to %d instances", MaxInstances)
	}
}

func (p *parser) element(v *jsonscan.Value) {
	if v.Kind == jsonscan.EndObject || v.Kind == jsonscan.EndArray {
		return
	}
	index := v.Path.Index(1)
	p.elements = index + 1
	if v.Kind != jsonscan.BeginObject {
		p.faults.add(v.Path, "is an object")
		return
	}
	if p.list == nil {
		p.list = make([]instance, 0, MaxInstances)
	}
	p.list = append(p.list, instance{index: index})
}
