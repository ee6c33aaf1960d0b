package agent

import (
	"cmp"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/runs/changes"
)

// events reads a command's lines of JSON: it renders them for people, and keeps what they say of
// resources and faults.
type events struct {
	stream *changes.Stream
	text   *changes.Renderer
}

// newEvents returns one that writes the text to to. Of an apply the list of planned changes is
// left out: people have seen it.
func newEvents(to io.Writer, isApply bool) *events {
	return &events{changes.NewStream(), changes.NewRenderer(to, isApply)}
}

// Write implements io.Writer.
func (e *events) Write(p []byte) (int, error) {
	_, _ = e.stream.Write(p) // it never fails
	return e.text.Write(p)
}

// Close ends the last line.
func (e *events) Close() error { return errors.Join(e.stream.Close(), e.text.Close()) }

// inFlight are the resources that were begun and have not ended.
func (e *events) inFlight() []api.InFlight {
	var all []api.InFlight
	for _, one := range e.stream.InFlight() {
		all = append(all, api.InFlight{Address: one.Address, Action: one.Action, Since: one.Since})
	}
	return all
}

// maxSlowest is how many of the actions that took longest are told.
const maxSlowest = 5

// work is what was done with resources.
func (e *events) work() (w api.Work) {
	progress := e.stream.Progress()
	w.Resources, w.PerSecond = progress.Completed+progress.Errored, math.Round(progress.PerSecond()*10)/10
	slices.SortStableFunc(progress.Timings, func(a, b changes.Timing) int { return cmp.Compare(b.Elapsed, a.Elapsed) })
	for _, t := range progress.Timings[:min(len(progress.Timings), maxSlowest)] {
		w.Slowest = append(w.Slowest,
			api.ResourceTime{Address: t.Address, Action: t.Action, Seconds: math.Round(t.Elapsed.Seconds()*10) / 10})
	}
	return w
}

// found are the errors and warnings.
func (e *events) found() []api.Diagnostic {
	var all []api.Diagnostic
	progress := e.stream.Progress()
	for _, d := range progress.Diagnostics {
		all = append(all, api.Diagnostic{Severity: d.Severity, Summary: d.Summary, Detail: d.Detail, Address: d.Address,
			File: d.File, Line: d.Line})
	}
	return all
}
