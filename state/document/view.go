package document

import (
	"cmp"
	"io"
	"slices"
)

// Outputs returns the outputs by name, without looking into the resources. Errors are
// those of Parse, or memory's.
func Outputs(body []byte, memory Memory) ([]Output, error) {
	var t top
	if err := t.read(body); err != nil {
		return nil, err
	}
	p := newParser(memory)
	if err := p.outputs(t.outputs); err != nil {
		return nil, err
	}
	slices.SortFunc(p.doc.Outputs, func(a, b Output) int { return cmp.Compare(a.Name, b.Name) })
	return p.doc.Outputs, nil
}

// WriteOutputs writes a state of version 4 that has the body's outputs, its version,
// serial and lineage, and no resources: what terraform_remote_state needs. Values, also
// sensitive ones, are exactly as in the body, since a client must be able to use them.
//
// Errors are those of Parse or memory's, before anything is written, or w's.
func WriteOutputs(w io.Writer, body []byte, memory Memory) error {
	var t top
	if err := t.read(body); err != nil {
		return err
	}
	p := newParser(memory)
	if err := p.header(t); err != nil {
		return err
	}
	if err := p.outputs(t.outputs); err != nil {
		return err
	}
	if len(p.doc.Outputs) == 0 {
		t.outputs = []byte("{}")
	}
	out := pieces{w: w}
	out.write("{\n  \"version\": 4")
	out.member("terraform_version", t.terraformVersion)
	out.member("serial", t.serial)
	out.member("lineage", t.lineage)
	out.member("outputs", t.outputs)
	out.write(",\n  \"resources\": [],\n  \"check_results\": null\n}\n")
	return out.err
}

// pieces writes one thing after the other and remembers the first error.
type pieces struct {
	w   io.Writer
	err error
}

func (p *pieces) write(text string) { p.bytes([]byte(text)) }

func (p *pieces) bytes(text []byte) {
	if p.err == nil {
		_, p.err = p.w.Write(text)
	}
}

// member writes a member that is there.
func (p *pieces) member(name string, value []byte) {
	if value == nil {
		return
	}
	p.write(",\n  \"" + name + "\": ")
	p.bytes(value)
}
