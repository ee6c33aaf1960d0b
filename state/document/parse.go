package document

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// Parse reads a state of format version 4. Its members private, check_results and those
// that no client writes are passed over, as are resources without instances.
//
// The error is a *fault.Error: StateEncrypted, StateUnsupported for another version or
// another shape or for one that is nested deeper than MaxDepth, StateInvalid for what is no
// JSON object. The messages show no values.
func Parse(body []byte) (*Document, error) { return ParseWithin(body, nil) }

// ParseWithin is Parse that asks for the memory of what it makes. Its error may be memory's.
func ParseWithin(body []byte, memory Memory) (*Document, error) {
	p := newParser(memory)
	if err := p.memory.acquire(int64(len(body)/typicalInstance) * instanceBytes); err != nil {
		return nil, err
	}
	p.doc.Instances = make([]Instance, 0, len(body)/typicalInstance)
	t := top{resources: p.resources}
	if err := t.read(body); err != nil {
		return nil, err
	}
	if err := p.header(t); err != nil {
		return nil, err
	}
	if err := p.outputs(t.outputs); err != nil {
		return nil, err
	}
	return &p.doc, p.order()
}

// typicalInstance is how many bytes of a body most instances take at least. Room for the
// list is made by it, because growing the list leaves as much garbage as it is large.
const typicalInstance = 8 << 10

type parser struct {
	doc    Document
	names  map[string]string // so that a type's name is kept once
	memory allowance
}

func newParser(memory Memory) *parser {
	return &parser{names: map[string]string{}, memory: allowance{memory: memory}}
}

func (p *parser) header(t top) error {
	var err error
	if p.doc.TerraformVersion, err = optionalText(t.terraformVersion, "terraform_version"); err != nil {
		return err
	}
	if p.doc.Lineage, err = optionalText(t.lineage, "lineage"); err != nil {
		return err
	}
	if t.serial == nil || t.serial[0] == 'n' {
		return nil
	}
	if p.doc.Serial, err = strconv.ParseUint(string(t.serial), 10, 64); err != nil {
		return unsupported("serial is not a plain integer of zero or more")
	}
	return nil
}

// optionalText reads a string; absence and null are empty, as in the clients.
func optionalText(raw []byte, where string) (string, error) {
	if raw == nil || raw[0] == 'n' {
		return "", nil
	}
	if raw[0] != '"' {
		return "", unsupported("%s is not a string", where)
	}
	return textOf(raw), nil
}

func (p *parser) outputs(raw []byte) error {
	if raw == nil || raw[0] == 'n' {
		return nil
	}
	if raw[0] != '{' {
		return unsupported("outputs is not an object")
	}
	c := jsonscan.NewCursor(raw, jsonscan.Limits{})
	return c.Each(func(child jsonscan.Child) (err error) {
		if p.doc.Outputs, err = oneMore(p.doc.Outputs, outputBytes, &p.memory); err != nil {
			return err
		}
		p.doc.Outputs = append(p.doc.Outputs, Output{Name: string(child.Name)})
		return p.doc.Outputs[child.Index].read(c)
	})
}

func (o *Output) read(c *jsonscan.Cursor) error {
	o.Value, o.Type = []byte("null"), []byte("null")
	return eachValue(c, "an output", func(name, value []byte) (err error) {
		switch string(name) {
		case "value":
			o.Value = value
		case "type":
			o.Type = value
		case "sensitive":
			o.Sensitive = value[0] == 't'
			if c := startOf(value); c != 't' && c != 'n' {
				return unsupported("an output's sensitive is not a boolean")
			}
		case "deprecated":
			o.Deprecated, err = optionalText(value, "an output's deprecated")
		}
		return err
	})
}

// order sorts what was read and refuses what is there twice: the clients do too.
func (p *parser) order() error {
	slices.SortFunc(p.doc.Outputs, func(a, b Output) int { return cmp.Compare(a.Name, b.Name) })
	for i := range p.doc.Outputs[min(1, len(p.doc.Outputs)):] {
		if p.doc.Outputs[i].Name == p.doc.Outputs[i+1].Name {
			return unsupported("an output is there twice")
		}
	}
	byPlace := func(a, b Instance) int { return a.compare(b.Place) }
	if !slices.IsSortedFunc(p.doc.Instances, byPlace) {
		slices.SortFunc(p.doc.Instances, byPlace)
	}
	for i := range p.doc.Instances[min(1, len(p.doc.Instances)):] {
		if p.doc.Instances[i].compare(p.doc.Instances[i+1].Place) == 0 {
			return unsupported("%s is there twice", p.doc.Instances[i].Place)
		}
	}
	return nil
}

// intern returns the text of a string, the same memory for the same text.
func (p *parser) intern(raw []byte) string {
	text, _ := jsonscan.Unquote(raw)
	if known, ok := p.names[string(text)]; ok {
		return known
	}
	name := string(text)
	p.names[name] = name
	return name
}
