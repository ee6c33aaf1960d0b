package agent

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/holdfast/holdfast/api"
)

// events reads a command's lines of JSON and renders them.
type events struct {
	to   io.Writer
	mu   sync.Mutex
	rest []byte
	diag []api.Diagnostic
	live []api.InFlight
}

func newEvents(to io.Writer) *events { return &events{to: to} }

func (e *events) Write(p []byte) (int, error) {
	e.rest = append(e.rest, p...)
	for {
		line, rest, ok := bytes.Cut(e.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		if err := e.line(line); err != nil {
			return 0, err
		}
		e.rest = append([]byte(nil), rest...)
	}
}

func (e *events) line(line []byte) error {
	var m struct {
		Message    string    `json:"@message"`
		Level      string    `json:"@level"`
		Time       time.Time `json:"@timestamp"`
		Type       string
		Diagnostic *struct {
			Severity, Summary, Detail, Address string
			Range                              *struct {
				Filename string
				Start    struct{ Line int }
			}
		}
		Hook *struct {
			Resource struct{ Addr string }
			Action   string
		}
	}
	text := string(line)
	if json.Unmarshal(line, &m) == nil && m.Message != "" {
		text = m.Message
		if d := m.Diagnostic; d != nil {
			if d.Detail != "" {
				text += "\n\n" + d.Detail + "\n"
			}
			found := api.Diagnostic{Severity: d.Severity, Summary: d.Summary, Detail: d.Detail, Address: d.Address}
			if d.Range != nil {
				found.File, found.Line = d.Range.Filename, d.Range.Start.Line
			}
			e.diag = append(e.diag, found)
		}
		e.mu.Lock()
		if m.Hook != nil && m.Type == "apply_start" {
			e.live = append(e.live, api.InFlight{Address: m.Hook.Resource.Addr, Action: m.Hook.Action, Since: m.Time})
		}
		if m.Hook != nil && (m.Type == "apply_complete" || m.Type == "apply_errored") {
			e.live = slices.DeleteFunc(e.live, func(l api.InFlight) bool { return l.Address == m.Hook.Resource.Addr })
		}
		e.mu.Unlock()
	}
	_, err := io.WriteString(e.to, text+"\n")
	return err
}

func (e *events) Close() error {
	if len(e.rest) > 0 {
		return e.line(e.rest)
	}
	return nil
}
func (e *events) Diagnostics() []api.Diagnostic { return e.diag }
func (e *events) InFlight() []api.InFlight {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.live)
}
