package facts

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs/changes"
)

// Limits bounds what ReadPlan takes. A zero stands for the default.
type Limits struct {
	Bytes   int64 // of the whole JSON
	Changes int   // that are kept; of a plan with more, Cut is set
	Kept    int64 // bytes of values that are kept
	Whole   bool  // whether all of the JSON is kept, masked
}

// The limits where none are set.
const (
	DefaultBytes   = 512 << 20
	DefaultChanges = 50_000
	DefaultKept    = 256 << 20
)

// maxVariables is how much the values of a plan's variables may have.
const maxVariables = 16 << 20

func (l Limits) withDefaults() Limits {
	if l.Bytes <= 0 {
		l.Bytes = DefaultBytes
	}
	if l.Changes <= 0 {
		l.Changes = DefaultChanges
	}
	if l.Kept <= 0 {
		l.Kept = DefaultKept
	}
	return l
}

// ReadPlan reads what show -json says of a plan. It calls open once, and where all of the JSON is kept once more, which
// gives the same bytes then. The error is a fault, PlanJSONInvalid or PlanJSONTooLarge, or what open or its reader
// returned.
func ReadPlan(open func() (io.Reader, error), limits Limits) (*Plan, error) {
	limits = limits.withDefaults()
	p := &Plan{Variables: map[string]json.RawMessage{}, Providers: map[string]Provider{}, links: newLinks()}
	first, err := open()
	if err != nil {
		return nil, err
	}
	seen, err := changes.Look(first, changes.LookOptions{Variables: maxVariables, Depends: p.links.ofState,
		Limits: changes.Limits{Bytes: limits.Bytes, Changes: limits.Changes, Kept: limits.Kept}})
	if err != nil {
		return nil, err
	}
	if err := p.take(seen); err != nil {
		return nil, asFault(err)
	}
	if !limits.Whole {
		return p, nil
	}
	second, err := open()
	if err != nil {
		return nil, err
	}
	var whole bytes.Buffer
	if err := seen.Redact(&whole, second); err != nil {
		return nil, err
	}
	p.Whole = whole.Bytes()
	return p, nil
}

// ReadBytes is ReadPlan of a plan that is in memory.
func ReadBytes(raw []byte, limits Limits) (*Plan, error) {
	return ReadPlan(func() (io.Reader, error) { return bytes.NewReader(raw), nil }, limits)
}

// asFault says of JSON with another shape than a plan's that it is none.
func asFault(err error) error {
	if _, isShape := errors.AsType[*json.UnmarshalTypeError](err); isShape {
		return fault.New(fault.PlanJSONInvalid, "the JSON is not what show -json says of a plan")
	}
	return err
}

// take makes a plan of what was seen.
func (p *Plan) take(seen *changes.Contents) (err error) {
	p.Counts, p.FormatVersion, p.ToolVersion = seen.Counts, seen.FormatVersion, seen.ToolVersion
	p.Errored, p.Cut = seen.Errored, seen.Cut
	p.Variables = seen.Variables
	for _, o := range seen.Outputs {
		p.Outputs = append(p.Outputs, Output{o.Name, o.Actions, o.After})
	}
	if p.Changes, err = changesOf(seen.Changes); err != nil {
		return err
	}
	if p.Drift, err = changesOf(seen.Drift); err != nil || seen.Configuration == nil {
		return err
	}
	return p.configuration(seen.Configuration)
}

// ofState learns what a resource of the prior state depends on.
func (l *links) ofState(address string, on []string) {
	for _, one := range on {
		l.add(configAddress(address), one)
	}
}
