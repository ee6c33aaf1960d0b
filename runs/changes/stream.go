package changes

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// The most that a Stream remembers. Of what is beyond it only numbers are kept.
const (
	maxLine        = 4 << 20 // of a line that is looked into
	maxDiagnostics = 1_000
	maxResources   = 100_000
)

// Stream follows what a tool prints with -json. It is a Writer, which takes the output in pieces
// however they come, and passes over what is none of the tool's messages. It may be asked while it
// is written to.
type Stream struct {
	mu      sync.Mutex
	lines   lines
	state   Progress
	running map[step]time.Time
}

// step is one action on one resource. A resource that is replaced has two, one after the other.
type step struct{ address, action string }

// Progress is what a run has come to.
type Progress struct {
	Tool        string // opentofu, terraform or engine, empty before the tool said so
	ToolVersion string
	Started     int // actions on resources, not counting reads of a plan
	Completed   int
	Errored     int
	// First and Last are when the first action was begun and the latest ended, by the tool's clock.
	First, Last time.Time
	// Timings are the actions that have ended, in the order in which they did.
	Timings []Timing
	// Diagnostics are the errors and warnings; Errors and Warnings count those that were left out too.
	Diagnostics      []Diagnostic
	Errors, Warnings int
	// Summary is the last that the tool gave, nil before.
	Summary *Summary
	// Outputs are those of an apply.
	Outputs map[string]Output
	// Other counts the lines that are no messages.
	Other int
}

// Timing is how long an action on a resource took.
type Timing struct {
	Address string
	Action  string
	Elapsed time.Duration
	Errored bool
}

// Output is an output of the root module after an apply. The tool leaves out a sensitive one's value.
type Output struct {
	Sensitive bool
	Type      json.RawMessage
	Value     json.RawMessage
}

// InFlight is an action that was begun and has not ended.
type InFlight struct {
	Address string
	Action  string
	Since   time.Time
}

// PerSecond is how many actions ended in a second, on average; 0 when that can't be told.
func (p *Progress) PerSecond() float64 {
	if took := p.Last.Sub(p.First).Seconds(); took > 0 {
		return float64(p.Completed+p.Errored) / took
	}
	return 0
}

// NewStream returns a Stream that has seen nothing.
func NewStream() *Stream { return &Stream{running: map[step]time.Time{}} }

// Write takes a piece of the output. It never fails.
func (s *Stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines.write(p, s.line)
	return len(p), nil
}

// Close takes what is left of a last line without its end.
func (s *Stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines.end(s.line)
	return nil
}

// Progress is what is known now.
func (s *Stream) Progress() Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.state
	state.Timings, state.Diagnostics = slices.Clone(state.Timings), slices.Clone(state.Diagnostics)
	return state
}

// InFlight lists what was begun and has not ended, the longest first. After a tool was killed
// these are the resources that may exist without being in the state.
func (s *Stream) InFlight() []InFlight {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]InFlight, 0, len(s.running))
	for step, since := range s.running {
		list = append(list, InFlight{Address: step.address, Action: step.action, Since: since})
	}
	slices.SortFunc(list, func(a, b InFlight) int {
		if c := a.Since.Compare(b.Since); c != 0 {
			return c
		}
		return bytes.Compare([]byte(a.Address+"\x00"+a.Action), []byte(b.Address+"\x00"+b.Action))
	})
	return list
}

func (s *Stream) line(line []byte, cut bool) {
	m, ok := parseMessage(line)
	if !ok || cut {
		s.state.Other++
		return
	}
	switch m.Type {
	case typeVersion:
		if m.OpenTofu != "" {
			s.state.Tool, s.state.ToolVersion = "opentofu", m.OpenTofu
		} else if m.Terraform != "" {
			s.state.Tool, s.state.ToolVersion = "terraform", m.Terraform
		} else if m.Engine != "" {
			s.state.Tool, s.state.ToolVersion = "engine", m.Engine
		}
	case typeApplyStart:
		s.started(m)
	case typeApplyComplete, typeApplyErrored:
		s.ended(m)
	case typeDiagnostic:
		s.diagnosed(m)
	case typeChangeSummary:
		s.state.Summary = m.Summary
	case typeOutputs:
		s.outputs(m)
	}
}

func (s *Stream) started(m *message) {
	if m.Hook == nil {
		return
	}
	s.state.Started++
	if s.state.First.IsZero() {
		s.state.First = m.Time
	}
	if len(s.running) < maxResources {
		s.running[step{m.Hook.Resource.Address, m.Hook.Action}] = m.Time
	}
}

func (s *Stream) ended(m *message) {
	if m.Hook == nil {
		return
	}
	of := step{m.Hook.Resource.Address, m.Hook.Action}
	took := time.Duration(m.Hook.Elapsed * float64(time.Second))
	if since, ok := s.running[of]; ok && m.Time.After(since) {
		took = m.Time.Sub(since) // finer than the tool's own seconds
	}
	delete(s.running, of)
	errored := m.Type == typeApplyErrored
	if errored {
		s.state.Errored++
	} else {
		s.state.Completed++
	}
	s.state.Last = m.Time
	if len(s.state.Timings) < maxResources {
		s.state.Timings = append(s.state.Timings,
			Timing{Address: of.address, Action: of.action, Elapsed: took, Errored: errored})
	}
}

func (s *Stream) diagnosed(m *message) {
	if m.Diagnostic == nil {
		return
	}
	switch m.Diagnostic.Severity {
	case "error":
		s.state.Errors++
	case "warning":
		s.state.Warnings++
	}
	if len(s.state.Diagnostics) < maxDiagnostics {
		s.state.Diagnostics = append(s.state.Diagnostics, m.Diagnostic.diagnostic())
	}
}

// outputs keeps those with values: a plan lists what it would do to them.
func (s *Stream) outputs(m *message) {
	outputs := map[string]Output{}
	for name, output := range m.Outputs {
		if output.Action == "" {
			outputs[name] = Output{Sensitive: output.Sensitive, Type: output.Type, Value: output.Value}
		}
	}
	if len(outputs) > 0 {
		s.state.Outputs = outputs
	}
}
