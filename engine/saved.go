package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/plan"
)

// savedFormat is the version of the format of saved plans.
const savedFormat = 1

// Saved is a plan that was kept to be applied later. It has all that the plan was made of but the
// configuration and the world: an apply plans again and goes on only if that gives the same plan. So a file
// that somebody has changed does nothing that the configuration doesn't say.
type Saved struct {
	Format  int                   `json:"holdfast_plan"`
	Options savedOptions          `json:"options"`
	Inputs  map[string]savedValue `json:"inputs"`

	// Plan is what Plan.JSON gave, in the shape of Terraform's show -json.
	Plan json.RawMessage `json:"plan"`
}

type savedOptions struct {
	Destroy     bool     `json:"destroy,omitempty"`
	RefreshOnly bool     `json:"refresh_only,omitempty"`
	NoRefresh   bool     `json:"no_refresh,omitempty"`
	Targets     []string `json:"targets,omitempty"`
	Replace     []string `json:"replace,omitempty"`
}

type savedValue struct {
	Type  json.RawMessage `json:"type"`
	Value json.RawMessage `json:"value"`
}

// savedOf is a plan as it is kept. It has values that are sensitive.
func savedOf(p *plan.Plan) ([]byte, error) {
	s := Saved{Format: savedFormat, Inputs: map[string]savedValue{}, Options: savedOptions{
		Destroy: p.Options.Destroy, RefreshOnly: p.Options.RefreshOnly, NoRefresh: p.Options.NoRefresh,
		Targets: texts(p.Options.Targets), Replace: texts(p.Options.Replace)}}
	for name, v := range p.Inputs {
		t, err := ctyjson.MarshalType(v.Type())
		if err != nil {
			return nil, err
		}
		value, err := ctyjson.Marshal(v, v.Type())
		if err != nil {
			return nil, err
		}
		s.Inputs[name] = savedValue{t, value}
	}
	var err error
	if s.Plan, err = p.JSON(); err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// ParseSaved reads what Save returned.
func ParseSaved(file []byte) (*Saved, error) {
	text, err := savedIn(file)
	if err != nil {
		return nil, &diag.Error{Category: diag.Planning, Summary: "the file is no plan of this engine's", Err: err}
	}
	var s Saved
	if err := json.Unmarshal(text, &s); err != nil || s.Format == 0 {
		return nil, &diag.Error{Category: diag.Planning, Summary: "the file is no saved plan", Err: err}
	}
	if s.Format != savedFormat {
		return nil, &diag.Error{Category: diag.Planning, Summary: "the plan was saved by another version",
			Hint: "plan again"}
	}
	return &s, nil
}

// Values are the values of the root's variables that the plan was made with.
func (s *Saved) Values() (map[string]cty.Value, error) {
	values := map[string]cty.Value{}
	for _, name := range slices.Sorted(maps.Keys(s.Inputs)) {
		t, err := ctyjson.UnmarshalType(s.Inputs[name].Type)
		if err == nil {
			values[name], err = ctyjson.Unmarshal(s.Inputs[name].Value, t)
		}
		if err != nil {
			return nil, &diag.Error{Category: diag.Planning, Summary: "the value of " + name + " in the plan can't be read",
				Hint: "plan again", Err: err}
		}
	}
	return values, nil
}

// Replan makes a saved plan again, with the values that it was made with. It fails if that gives another
// one: because of the configuration, the state or the objects, one of which has changed since.
func (e *Engine) Replan(ctx context.Context, s *Saved) (*plan.Plan, error) {
	values, err := s.Values()
	if err != nil {
		return nil, err
	}
	o := plan.Options{Destroy: s.Options.Destroy, RefreshOnly: s.Options.RefreshOnly, NoRefresh: s.Options.NoRefresh}
	if o.Targets, err = addresses(s.Options.Targets); err != nil {
		return nil, err
	}
	if o.Replace, err = addresses(s.Options.Replace); err != nil {
		return nil, err
	}
	e.Inputs = values
	p, err := e.Plan(ctx, o)
	if err != nil {
		return nil, err
	}
	now, err := p.JSON()
	if err != nil {
		return nil, err
	}
	var before bytes.Buffer
	if err := json.Compact(&before, s.Plan); err != nil || !bytes.Equal(before.Bytes(), now) {
		return nil, &diag.Error{Category: diag.Concurrency, Err: err,
			Summary: "the plan is stale: what it was made of has changed since", Hint: "plan again, and look at what is new"}
	}
	return p, nil
}

func texts(all []addr.Resource) []string {
	var list []string
	for _, r := range all {
		list = append(list, r.String())
	}
	return list
}

func addresses(texts []string) ([]addr.Resource, error) {
	var all []addr.Resource
	for _, text := range texts {
		r, err := addr.Parse(text)
		if err != nil {
			return nil, &diag.Error{Category: diag.Planning, Summary: "the plan names " + text, Err: err}
		}
		all = append(all, r)
	}
	return all, nil
}
