package document

import (
	"encoding/json"
	"io"
)

// WriteJSON writes the Diff of a and b as JSON without holding it. It is what
// encoding/json makes of the Diff, except that the summary comes last. An error is w's, or that
// of the Memory.
func WriteJSON(w io.Writer, a, b *Document, options Options) error {
	options = options.metered()
	d := frame(a, b, options)
	head, err := json.Marshal(struct {
		Masked           bool            `json:"masked"`
		TerraformVersion *Change         `json:"terraform_version,omitempty"`
		Lineage          *Change         `json:"lineage,omitempty"`
		Serial           *Change         `json:"serial,omitempty"`
		Providers        *ProviderChange `json:"providers,omitempty"`
		Outputs          []OutputChange  `json:"outputs"`
	}{d.Masked, d.TerraformVersion, d.Lineage, d.Serial, d.Providers, d.Outputs})
	if err != nil {
		return err
	}
	out := pieces{w: w}
	out.bytes(head[:len(head)-1])
	separator := `,"resources":[`
	for c, err := range Changes(a, b, options) {
		if err != nil {
			return err
		}
		d.Summary.count(c)
		if err := options.meter.add(encodedBytes * c.raw()); err != nil {
			return err
		}
		out.write(separator)
		if out.json(c); out.err != nil {
			return out.err
		}
		separator = ","
	}
	if separator != "," {
		out.write(separator)
	}
	out.write(`],"summary":`)
	out.json(d.Summary)
	out.write("}\n")
	return out.err
}

// encodedBytes is what making JSON of a change takes for each byte of its values: a buffer that
// grows, and what is returned of it.
const encodedBytes = 2

// raw is how many bytes the values of a change have.
func (c *ResourceChange) raw() (n int64) {
	for i := range c.Fields {
		n += int64(len(c.Fields[i].Before) + len(c.Fields[i].After))
	}
	for i := range c.Attributes {
		n += int64(len(c.Attributes[i].Before) + len(c.Attributes[i].After))
	}
	return n
}

func (p *pieces) json(v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		p.err = err
		return
	}
	p.bytes(raw)
}
