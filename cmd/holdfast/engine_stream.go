package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/plan"
)

// engineStream writes what the engine does as lines of JSON, in the form that the clients have with -json.
type engineStream struct{ w io.Writer }

// streamResource names a resource in a line.
type streamResource struct {
	Address  string `json:"addr"`
	Module   string `json:"module"`
	Resource string `json:"resource"`
	Provider string `json:"implied_provider"`
	Type     string `json:"resource_type"`
	Name     string `json:"resource_name"`
	Key      any    `json:"resource_key"`
}

func streamAddress(r addr.Resource) streamResource {
	provider, _, _ := strings.Cut(r.Type, "_")
	return streamResource{Address: r.String(), Module: r.Module.String(), Resource: r.Local() + addr.KeyString(r.Key),
		Provider: provider, Type: r.Type, Name: r.Name, Key: r.Key}
}

// streamOutput is an output in a line. What is sensitive has no value.
type streamOutput struct {
	Sensitive bool            `json:"sensitive"`
	Type      json.RawMessage `json:"type,omitempty"`
	Value     json.RawMessage `json:"value,omitempty"`
	Action    string          `json:"action,omitempty"`
}

func (s *engineStream) line(level, kind, text string, more map[string]any) {
	line := map[string]any{"@level": level, "@message": text, "@module": "holdfast.engine",
		"@timestamp": time.Now().UTC().Format(time.RFC3339Nano), "type": kind}
	for name, value := range more {
		line[name] = value
	}
	_ = json.NewEncoder(s.w).Encode(line) // who doesn't read the lines has the state all the same
}

func (s *engineStream) version() {
	s.line("info", "version", "Holdfast "+version, map[string]any{"holdfast": version, "ui": "1.2"})
}

// planned tells what a plan would do.
func (s *engineStream) planned(p *plan.Plan) {
	for _, d := range p.Drift {
		s.line("info", "resource_drift", fmt.Sprintf("%s: Drift detected (%s)", d.Address, d.Action),
			map[string]any{"change": map[string]any{"resource": streamAddress(d.Address), "action": d.Action}})
	}
	for _, c := range p.Changes {
		action := streamAction(c)
		if action == "" {
			continue
		}
		change := map[string]any{"resource": streamAddress(c.Address), "action": action}
		if c.Moved != "" {
			change["previous_resource"] = map[string]any{"addr": c.Moved}
		}
		s.line("info", "planned_change", fmt.Sprintf("%s: Plan to %s", c.Address, action), map[string]any{"change": change})
	}
	add, change, destroy := p.Count()
	s.line("info", "change_summary", p.Summary(), map[string]any{"changes": map[string]any{"add": add, "change": change,
		"import": p.Imports(), "remove": destroy, "operation": "plan"}})
	outputs := map[string]streamOutput{}
	for _, o := range p.Outputs {
		action := string(o.Action)
		if o.Action == plan.NoOp {
			action = "noop"
		}
		outputs[o.Name] = streamOutput{Sensitive: o.Sensitive, Action: action}
	}
	if len(outputs) > 0 {
		s.line("info", "outputs", fmt.Sprintf("Outputs: %d", len(outputs)), map[string]any{"outputs": outputs})
	}
}

// streamAction names what is planned for an object; empty where that is nothing.
func streamAction(c *plan.Change) string {
	switch {
	case c.Action.Replaces():
		return "replace"
	case c.Action == plan.NoOp && c.Moved != "":
		return "move"
	case c.Action == plan.NoOp && c.Imported != "":
		return "import"
	case c.Action == plan.NoOp:
		return ""
	case c.Action == plan.Forget:
		return "remove"
	}
	return string(c.Action)
}

// event tells what happens to an object.
func (s *engineStream) event(e apply.Event) {
	doing, done := "Reading", "Read"
	switch e.Action {
	case plan.Create:
		doing, done = "Creating", "Creation"
	case plan.Update:
		doing, done = "Modifying", "Modifications"
	case plan.Delete:
		doing, done = "Destroying", "Destruction"
	case plan.Forget:
		return
	}
	took := e.Elapsed.Round(time.Second)
	hook := map[string]any{"resource": streamAddress(e.Resource), "action": e.Action}
	if e.Phase != apply.Started {
		hook["elapsed_seconds"] = int(took.Seconds())
	}
	more := map[string]any{"hook": hook}
	switch e.Phase {
	case apply.Started:
		s.line("info", "apply_start", fmt.Sprintf("%s: %s...", e.Address, doing), more)
	case apply.Progress:
		s.line("info", "apply_progress", fmt.Sprintf("%s: Still %s... [%s elapsed]", e.Address, strings.ToLower(doing), took),
			more)
	case apply.Finished:
		s.line("info", "apply_complete", fmt.Sprintf("%s: %s complete after %s", e.Address, done, took), more)
	case apply.Failed:
		s.line("info", "apply_errored", fmt.Sprintf("%s: %s errored after %s", e.Address, done, took), more)
		if e.Err != nil {
			s.failure(e.Err)
		}
	}
}

// applied sums an apply up.
func (s *engineStream) applied(p *plan.Plan, r *apply.Result) {
	operation, word := "apply", "Apply"
	text := fmt.Sprintf(" complete! Resources: %d added, %d changed, %d destroyed.", r.Added, r.Changed, r.Destroyed)
	if p.Options.Destroy {
		operation, word = "destroy", "Destroy"
		text = fmt.Sprintf(" complete! Resources: %d destroyed.", r.Destroyed)
	}
	s.line("info", "change_summary", word+text, map[string]any{"changes": map[string]any{"add": r.Added,
		"change": r.Changed, "remove": r.Destroyed, "operation": operation}})
	outputs := map[string]streamOutput{}
	for name, o := range r.State.Outputs {
		out := streamOutput{Sensitive: o.Sensitive, Type: o.Type}
		if !o.Sensitive {
			out.Value = o.Value
		}
		outputs[name] = out
	}
	s.line("info", "outputs", fmt.Sprintf("Outputs: %d", len(outputs)), map[string]any{"outputs": outputs})
}

// streamPlace is a place in a configuration.
type streamPlace struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

// failure tells an error.
func (s *engineStream) failure(err error) {
	diagnostic := map[string]any{"severity": "error", "summary": err.Error(), "detail": ""}
	var fault *diag.Error
	if errors.As(err, &fault) {
		detail := fault.Detail
		if fault.Hint != "" {
			detail = strings.TrimPrefix(detail+"\n"+fault.Hint, "\n")
		}
		diagnostic["summary"], diagnostic["detail"] = fault.Summary, detail
		if fault.Address != "" {
			diagnostic["address"] = fault.Address
		}
		if r := fault.Range; r.Filename != "" {
			diagnostic["range"] = map[string]any{"filename": r.Filename,
				"start": streamPlace{r.Start.Line, r.Start.Column, r.Start.Byte},
				"end":   streamPlace{r.End.Line, r.End.Column, r.End.Byte}}
		}
		if code := fault.Line(); code != "" {
			diagnostic["snippet"] = map[string]any{"context": fault.Construct, "code": code,
				"start_line": fault.Range.Start.Line, "highlight_start_offset": 0, "highlight_end_offset": 0, "values": []any{}}
		}
	}
	s.line("error", "diagnostic", fmt.Sprintf("Error: %s", diagnostic["summary"]),
		map[string]any{"diagnostic": diagnostic})
}
