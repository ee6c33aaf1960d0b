package runs

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// MaxOutputs is how many bytes of outputs are shown.
const MaxOutputs = 4 << 20

// Outputs returns the outputs that the run's apply has left behind: those that the workspace
// declares, or all where it declares none. A sensitive one has no value: who may read it reads
// the state. Its fault: RunFileNotFound.
func (s *Service) Outputs(ctx context.Context, p auth.Principal, id string) (api.RunOutputs, error) {
	run, err := s.find(ctx, p, auth.ReadRun, id)
	if err != nil {
		return api.RunOutputs{}, err
	}
	file, err := s.newest(ctx, run.Ref(), FileOutputs)
	if err != nil {
		return api.RunOutputs{}, err
	}
	if file.Size > MaxOutputs {
		return api.RunOutputs{}, fault.New(fault.RunFileNotFound, "the run's outputs have %d bytes, and at most %d are shown: read them from the state", file.Size, MaxOutputs)
	}
	raw, err := io.ReadAll(s.open(ctx, file))
	if err != nil {
		return api.RunOutputs{}, err
	}
	return maskedOutputs(raw, run.Terms.Outputs)
}

// maskedOutputs makes an answer of what the tool's `output -json` has said. An executor brought
// it, so it may be anything.
func maskedOutputs(raw []byte, declared []string) (api.RunOutputs, error) {
	var said map[string]struct {
		Sensitive *bool           `json:"sensitive"`
		Type      json.RawMessage `json:"type"`
		Value     json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(raw, &said); err != nil {
		return api.RunOutputs{}, fault.Wrap(err, fault.RunFileNotFound, "the run's outputs are not what a tool prints: read them from the state")
	}
	all := api.RunOutputs{Outputs: []api.RunOutput{}}
	for _, name := range slices.Sorted(maps.Keys(said)) {
		if len(declared) > 0 && !slices.Contains(declared, name) {
			continue
		}
		// What doesn't say that it isn't sensitive is.
		o := said[name]
		out := api.RunOutput{Name: name, Type: o.Type, Sensitive: o.Sensitive == nil || *o.Sensitive}
		if !out.Sensitive {
			out.Value = o.Value
		}
		all.Outputs = append(all.Outputs, out)
	}
	for _, name := range declared {
		if _, ok := said[name]; !ok {
			all.Missing = append(all.Missing, name)
		}
	}
	return all, nil
}
