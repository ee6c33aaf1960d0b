package handlers

import (
	"context"

	"github.com/holdfast/holdfast/state"
)

// bring stores a version that was kept elsewhere, with the time that it had there.
func (s states) bring(ctx context.Context, r *request, name state.Name) (answer, error) {
	made := state.Import{Body: r.body(), At: r.time("time"), After: r.number("after"), Source: r.importSource(),
		LockID: r.lockID()}
	if made.At.IsZero() {
		r.invalid("the query's time is missing: when the version was written where it comes from")
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	version, err := s.service.Import(ctx, r.caller, name, made)
	return tell(s.describer(r).versionOf(version)), err
}

// importSource reads where a version comes from.
func (r *request) importSource() string {
	text, err := needsReason(r.text("source"))
	r.check(err)
	return text
}
