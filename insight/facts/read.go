package facts

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

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

// maxUnread is how much of a plan's values the first reading keeps, which is after what is
// sensitive in it.
const maxUnread = 16 << 20

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

// ReadPlan reads what show -json says of a plan. It calls open twice, which gives the same bytes each
// time: the first reading finds what is sensitive, the second one masks it. The error is a fault,
// PlanJSONInvalid or PlanJSONTooLarge, or what open or its reader returned.
func ReadPlan(open func() (io.Reader, error), limits Limits) (*Plan, error) {
	limits = limits.withDefaults()
	first, err := open()
	if err != nil {
		return nil, err
	}
	parsed, err := changes.Parse(first, changes.Options{Limits: changes.Limits{Bytes: limits.Bytes, Kept: maxUnread,
		Changes: 1}})
	if err != nil {
		return nil, err
	}
	second, err := open()
	if err != nil {
		return nil, err
	}
	redact := parsed.RedactChanges
	if limits.Whole {
		redact = parsed.Redact
	}
	masked, to := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := redact(to, second)
		to.CloseWithError(err)
		done <- err
	}()
	var whole bytes.Buffer
	from := io.Reader(masked)
	if limits.Whole {
		from = io.TeeReader(masked, &whole)
	}
	r := newReader(from, limits)
	if err = r.document(); err == nil {
		_, err = io.Copy(io.Discard, from) // Redact says in the end whether what it wrote counts
	}
	_ = masked.CloseWithError(errors.New("nobody reads any more"))
	if redactErr := <-done; err == nil {
		err = redactErr
	}
	if err != nil {
		return nil, asFault(err)
	}
	r.plan.Whole, r.plan.Errored = whole.Bytes(), parsed.Errored
	r.plan.Counts, r.plan.FormatVersion, r.plan.ToolVersion = parsed.Counts, parsed.FormatVersion, parsed.ToolVersion
	return r.plan, nil
}

// ReadBytes is ReadPlan of a plan that is in memory.
func ReadBytes(raw []byte, limits Limits) (*Plan, error) {
	return ReadPlan(func() (io.Reader, error) { return bytes.NewReader(raw), nil }, limits)
}

// asFault says of JSON with another shape than a plan's that it is none.
func asFault(err error) error {
	_, isShape := errors.AsType[*json.UnmarshalTypeError](err)
	_, isSyntax := errors.AsType[*jsontext.SyntacticError](err)
	if isShape || isSyntax || errors.Is(err, errShape) {
		return fault.New(fault.PlanJSONInvalid, "the JSON is not what show -json says of a plan")
	}
	return err
}

// errShape is of a value that is no object or list where the format has one.
var errShape = errors.New("a value has another kind than in a plan")

// reader makes a Plan of masked JSON.
type reader struct {
	in     *jsontext.Decoder
	plan   *Plan
	limits Limits
	kept   int64
}

func newReader(in io.Reader, limits Limits) *reader {
	// Whoever masked it has refused a name that an object has twice.
	return &reader{in: jsontext.NewDecoder(in, jsontext.AllowDuplicateNames(true)), limits: limits, plan: &Plan{
		Variables: map[string]json.RawMessage{}, Providers: map[string]Provider{}, links: newLinks(),
	}}
}

func (r *reader) document() error {
	var config json.RawMessage
	err := r.members(func(name string) (err error) {
		switch name {
		case "resource_changes":
			return r.elements(func() error { return r.change(&r.plan.Changes) })
		case "resource_drift":
			return r.elements(func() error { return r.change(&r.plan.Drift) })
		case "output_changes":
			return r.members(r.output)
		case "variables":
			return r.members(r.variable)
		case "prior_state":
			return r.state()
		case "configuration":
			config, err = r.value()
			return err
		}
		return r.in.SkipValue()
	})
	if err != nil || config == nil {
		return err
	}
	return r.configuration(config)
}

// members calls use with the name of each member of the object that comes next, to read its value.
func (r *reader) members(use func(name string) error) error {
	if r.in.PeekKind() != '{' {
		return r.other()
	}
	if _, err := r.in.ReadToken(); err != nil {
		return err
	}
	for r.in.PeekKind() == '"' {
		name, err := r.in.ReadToken()
		if err != nil {
			return err
		}
		if err := use(strings.Clone(name.String())); err != nil {
			return err
		}
	}
	_, err := r.in.ReadToken()
	return err
}

// elements calls use for each element of the list that comes next, to read it.
func (r *reader) elements(use func() error) error {
	if r.in.PeekKind() != '[' {
		return r.other()
	}
	if _, err := r.in.ReadToken(); err != nil {
		return err
	}
	for {
		switch r.in.PeekKind() {
		case ']':
			_, err := r.in.ReadToken()
			return err
		case 0:
			_, err := r.in.ReadToken()
			return err
		}
		if err := use(); err != nil {
			return err
		}
	}
}

// other skips a null where an object or a list is expected, and takes nothing else.
func (r *reader) other() error {
	token, err := r.in.ReadToken()
	if err == nil && token.Kind() != 'n' {
		return errShape
	}
	return err
}

// value returns a copy of the next value.
func (r *reader) value() (json.RawMessage, error) {
	value, err := r.in.ReadValue()
	return json.RawMessage(bytes.Clone(value)), err
}

// change reads a change, and adds it to a list of them.
func (r *reader) change(list *[]Change) error {
	value, err := r.in.ReadValue()
	if err != nil {
		return err
	}
	if len(*list) >= r.limits.Changes || r.kept+int64(len(value)) > r.limits.Kept {
		r.plan.Cut = true
		return nil
	}
	r.kept += int64(len(value))
	c, err := parseChange(bytes.Clone(value))
	*list = append(*list, c)
	return err
}

func (r *reader) output(name string) error {
	value, err := r.value()
	if err != nil {
		return err
	}
	var w struct {
		Actions []string        `json:"actions"`
		After   json.RawMessage `json:"after"`
	}
	if err := json.Unmarshal(value, &w); err != nil {
		return err
	}
	r.plan.Outputs = append(r.plan.Outputs, Output{name, w.Actions, w.After})
	return nil
}

func (r *reader) variable(name string) error {
	value, err := r.value()
	if err != nil {
		return err
	}
	var w struct {
		Value json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(value, &w); err != nil {
		return err
	}
	r.plan.Variables[name] = w.Value
	return nil
}

// state learns from the prior state what depends on what.
func (r *reader) state() error {
	return r.members(func(name string) error {
		switch name {
		case "values", "root_module":
			return r.state()
		case "child_modules":
			return r.elements(r.state)
		case "resources":
			return r.elements(r.resource)
		}
		return r.in.SkipValue()
	})
}

func (r *reader) resource() error {
	value, err := r.in.ReadValue()
	if err != nil {
		return err
	}
	var w struct {
		Address   string   `json:"address"`
		DependsOn []string `json:"depends_on"`
	}
	if err := json.Unmarshal(value, &w); err != nil {
		return err
	}
	for _, on := range w.DependsOn {
		r.plan.links.add(configAddress(w.Address), on)
	}
	return nil
}
