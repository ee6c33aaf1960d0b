package handlers

import (
	"context"
	"net/http"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/state"
)

// candidates lists what was held back or brought, the newest first.
func (s states) candidates(ctx context.Context, r *request, name state.Name) (answer, error) {
	var after string
	r.cursor(func(text string) bool { after = text; return state.IsCandidateID(text) })
	limit := r.limit()
	r.check(s.service.Permit(ctx, r.caller, auth.ReadMetadata, name))
	return s.lists.answer(ctx, r, rowsBytes(limit+state.MaxOpenCandidates), func() (listing, error) {
		page, next, err := s.service.Candidates(ctx, r.caller, name, after, limit)
		return listingOf(api.Candidates{Candidates: []api.Candidate{}, Next: orNull(next)}, "candidates", page,
			s.describer(r).candidateOf), err
	})
}

// addCandidate keeps a body such as an errored.tfstate.
func (s states) addCandidate(ctx context.Context, r *request, name state.Name) (answer, error) {
	reason, err := mayHaveReason(r.text("reason"))
	r.check(err)
	if err := r.err(); err != nil {
		return nil, err
	}
	made, err := s.service.AddCandidate(ctx, r.caller, name, r.body(), reason)
	return told{status: http.StatusCreated, body: s.describer(r).candidateOf(made)}, err
}

// candidate sends the exact bytes of an open one, and describes a settled one.
func (s states) candidate(ctx context.Context, r *request, name state.Name) (answer, error) {
	id := r.candidate()
	if err := r.err(); err != nil {
		return nil, err
	}
	found, err := s.service.Candidate(ctx, r.caller, name, id)
	if err != nil {
		return nil, err
	}
	if found.Status != state.Open {
		found.Release()
		return tell(s.describer(r).candidateOf(found.Candidate)), nil
	}
	return released{exactly{body: found.Body}, found.Release}, nil
}

// promote makes a candidate the newest version.
func (s states) promote(ctx context.Context, r *request, name state.Name) (answer, error) {
	id, o := r.candidate(), r.order(needsReason)
	if err := r.err(); err != nil {
		return nil, err
	}
	version, err := s.service.Promote(ctx, r.caller, name, id,
		state.Decision{Reason: o.Reason, LockID: o.LockID, Anyway: o.Anyway, RestorePurged: o.RestorePurged})
	return tell(s.describer(r).versionOf(version)), err
}

// discard ends a candidate.
func (s states) discard(ctx context.Context, r *request, name state.Name) (answer, error) {
	id, o := r.candidate(), r.order(mayHaveReason)
	if err := r.err(); err != nil {
		return nil, err
	}
	return done(), s.service.Discard(ctx, r.caller, name, id, o.Reason)
}
