package runs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// MaxOutputs is how many bytes of outputs are shown.
const MaxOutputs = 4 << 20

// Outputs returns the outputs that the run's apply has left behind: those that the workspace
// declares, or all where it declares none. A sensitive one has no value: who may read it reads
// the state. Who lacks the right to the state's outputs is given names and types alone. Faults:
// RunFileNotFound, StateInternal.
func (s *Service) Outputs(ctx context.Context, p auth.Principal, id string) (api.RunOutputs, error) {
	run, err := s.find(ctx, p, auth.ReadRun, id)
	if err != nil {
		return api.RunOutputs{}, err
	}
	if err := s.Gate.AuthorizeView(ctx, p, auth.ReadRun, run.Workspace); err != nil {
		return api.RunOutputs{}, err
	}
	file, err := s.newest(ctx, run.Ref(), FileOutputs)
	if err != nil {
		return api.RunOutputs{}, err
	}
	if file.Size > MaxOutputs {
		return api.RunOutputs{},
			fault.New(fault.RunFileNotFound,
				"the run's outputs have %d bytes, and at most %d are shown: read them from the state", file.Size, MaxOutputs)
	}
	raw, err := io.ReadAll(s.open(ctx, file))
	if err != nil {
		return api.RunOutputs{}, err
	}
	all, err := maskedOutputs(raw, run.Terms.Outputs)
	if p.MayView(auth.ReadOutputs, run.Workspace) == nil {
		return all, err
	}
	for i := range all.Outputs {
		all.Outputs[i].Value, all.Outputs[i].Withheld = nil, true
	}
	return all, err
}

// maxOutputCount is how many outputs are shown.
const maxOutputCount = 10_000

// maskedOutputs makes an answer of what the tool's `output -json` has said. An executor brought
// it, so it may be anything: it is read one output after the other.
func maskedOutputs(raw []byte, declared []string) (api.RunOutputs, error) {
	all, said := api.RunOutputs{Outputs: []api.RunOutput{}}, map[string]bool{}
	from := json.NewDecoder(bytes.NewReader(raw))
	err := want(from, json.Delim('{'))
	for err == nil && from.More() {
		var out api.RunOutput
		if out, err = nextOutput(from); err != nil {
			break
		}
		if len(said) >= maxOutputCount {
			return api.RunOutputs{},
				fault.New(fault.RunFileNotFound, "the run has more than %d outputs: read them from the state", maxOutputCount)
		}
		if twice := said[out.Name]; twice {
			err = fmt.Errorf("there is an output of the name %.100q twice", out.Name)
		}
		said[out.Name] = true
		if len(declared) == 0 || slices.Contains(declared, out.Name) {
			all.Outputs = append(all.Outputs, out)
		}
	}
	if err = cmp.Or(err, want(from, json.Delim('}')), want(from, nil)); err != nil {
		return api.RunOutputs{},
			fault.Wrap(err, fault.RunFileNotFound, "the run's outputs are not what a tool prints: read them from the state")
	}
	slices.SortFunc(all.Outputs, func(a, b api.RunOutput) int { return cmp.Compare(a.Name, b.Name) })
	for _, name := range declared {
		if !said[name] {
			all.Missing = append(all.Missing, name)
		}
	}
	return all, nil
}

// nextOutput reads a name and what is said of it. What doesn't say that it isn't sensitive is.
func nextOutput(from *json.Decoder) (api.RunOutput, error) {
	name, err := from.Token()
	if err != nil {
		return api.RunOutput{}, err
	}
	var said struct {
		Sensitive *bool           `json:"sensitive"`
		Type      json.RawMessage `json:"type"`
		Value     json.RawMessage `json:"value"`
	}
	err = from.Decode(&said)
	out := api.RunOutput{Name: name.(string), Type: said.Type, Sensitive: said.Sensitive == nil || *said.Sensitive}
	if !out.Sensitive {
		out.Value = said.Value
	}
	return out, err
}

// want reads a token, or with nil the end.
func want(from *json.Decoder, token json.Token) error {
	got, err := from.Token()
	switch {
	case token == nil && err == io.EOF:
		return nil
	case err == nil && got != token:
		err = fmt.Errorf("%v stands in the place of %v", got, token)
	}
	return err
}
