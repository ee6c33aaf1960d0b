package enclave

import (
	"fmt"
	"slices"
)

// Resolved is an input with everything put in its place.
type Resolved struct {
	Name, Value string
	Sensitive   bool // a value that is sensitive went into it
}

// WithoutSecrets are inputs as they may be kept: sensitive ones have no value.
func WithoutSecrets(inputs []Resolved) []Resolved {
	shown := slices.Clone(inputs)
	for i := range shown {
		if shown[i].Sensitive {
			shown[i].Value = ""
		}
	}
	return shown
}

// MissingError says that an output that is imported isn't there.
type MissingError struct{ Partition, Output string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s has no output %s yet", e.Partition, e.Output)
}

// Resolve puts outputs into a partition's inputs; outputs says what a partition has, by its path.
func (p *Partition) Resolve(outputs func(path string) map[string]Output) ([]Resolved, error) {
	all := make([]Resolved, 0, len(p.Inputs))
	for _, in := range p.Inputs {
		r := Resolved{Name: in.Name}
		value, err := in.Value.fill(func(ref Reference) (string, error) {
			at := slices.IndexFunc(p.Imports, func(i Import) bool { return i.Alias == ref.Alias })
			if at < 0 || p.Imports[at].partition == nil {
				return "", fmt.Errorf("there is no import with the alias %s", ref.Alias)
			}
			from := p.Imports[at].partition.Path()
			out, ok := outputs(from)[ref.Key]
			if !ok {
				return "", &MissingError{from, ref.Key}
			}
			r.Sensitive = r.Sensitive || out.Sensitive
			return out.text(), nil
		})
		if err != nil {
			return nil, fmt.Errorf("inputs.%s: %w", in.Name, err)
		}
		r.Value = value
		all = append(all, r)
	}
	return all, nil
}
