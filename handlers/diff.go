package handlers

import (
	"context"

	"github.com/holdfast/holdfast/state"
)

// diff shows how a version differs from an older one.
func (s states) diff(ctx context.Context, r *request, name state.Name) (answer, error) {
	ask := state.DiffQuery{Number: r.version(), Against: r.number("against"), DiffOptions: r.diffOptions()}
	if err := r.err(); err != nil {
		return nil, err
	}
	made, err := s.service.Diff(ctx, r.caller, name, ask)
	return rendered{media: diffMedia(ask.DiffOptions), made: made}, err
}

// candidateDiff shows how a candidate differs from the newest version.
func (s states) candidateDiff(ctx context.Context, r *request, name state.Name) (answer, error) {
	id, ask := r.candidate(), r.diffOptions()
	if err := r.err(); err != nil {
		return nil, err
	}
	made, err := s.service.CandidateDiff(ctx, r.caller, name, id, ask)
	return rendered{media: diffMedia(ask), made: made}, err
}

func (r *request) diffOptions() state.DiffOptions {
	return state.DiffOptions{Sensitive: r.flag("sensitive"), Text: r.choice("format", "json", "text") == "text"}
}

func diffMedia(o state.DiffOptions) string {
	if o.Text {
		return "text/plain; charset=utf-8"
	}
	return mediaJSON
}
