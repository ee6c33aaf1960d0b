package state

import (
	"context"
	"fmt"
	"io"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state/document"
)

// DiffQuery says which versions to compare, and what to show of them.
type DiffQuery struct {
	Number  uint64
	Against uint64 // the version to start from; 0 is the one before Number
	// Sensitive shows sensitive values instead of masking them; that is recorded.
	Sensitive bool
}

// Difference is how one state became another.
type Difference struct {
	from, to *document.Document
	options  document.Options
}

// WriteJSON writes it for programs, as document.WriteJSON says.
func (d Difference) WriteJSON(w io.Writer) error {
	return document.WriteJSON(w, d.from, d.to, d.options)
}

// WriteText writes it for people, in the manner of a plan.
func (d Difference) WriteText(w io.Writer) error {
	return document.WriteText(w, d.from, d.to, d.options, nil)
}

// Diff compares two versions; what was before version 1 is nothing. Faults:
// VersionNotFound, VersionPurged, StateEncrypted, StateUnsupported.
func (s *Service) Diff(ctx context.Context, p auth.Principal, name Name, q DiffQuery) (Difference, error) {
	ref, err := s.enter(ctx, p, auth.ReadState, name)
	if err != nil {
		return Difference{}, err
	}
	if q.Against == 0 {
		q.Against = q.Number - 1
	}
	to, err := s.readable(ctx, ref, q.Number)
	if err != nil {
		return Difference{}, err
	}
	from := &document.Document{}
	if q.Against > 0 {
		if from, err = s.readable(ctx, ref, q.Against); err != nil {
			return Difference{}, err
		}
	}
	d := Difference{from, to, document.Options{Reveal: q.Sensitive}}
	if q.Sensitive {
		err = s.reveal(ctx, p, ref, q.Number, fmt.Sprintf("difference to version %d", q.Against))
	}
	return d, err
}

// CandidateDiff compares an open candidate with the newest version; where there is no
// state, with nothing. Faults: CandidateNotFound, CandidateSettled, and those of Diff.
func (s *Service) CandidateDiff(ctx context.Context, p auth.Principal, name Name, id string, sensitive bool) (Difference, error) {
	ref, err := s.enter(ctx, p, auth.ReadState, name)
	if err != nil {
		return Difference{}, err
	}
	candidate, err := s.store.Candidate(ctx, ref, id)
	if err == nil && candidate.Status != Open {
		err = errSettled(candidate.Candidate)
	}
	if err != nil {
		return Difference{}, err
	}
	to, err := document.Parse(candidate.Body)
	if err != nil {
		return Difference{}, err
	}
	from, err := s.readable(ctx, ref, 0)
	if fault.Is(err, fault.StateNotFound) {
		from, err = &document.Document{}, nil
	}
	if err == nil && sensitive {
		err = s.reveal(ctx, p, ref, candidate.Number, "candidate "+id)
	}
	return Difference{from, to, document.Options{Reveal: sensitive}}, err
}

// readable parses a version; number 0 is the newest of a state that exists.
func (s *Service) readable(ctx context.Context, ref Ref, number uint64) (*document.Document, error) {
	snapshot, err := s.version(ctx, ref, number)
	if err != nil {
		return nil, err
	}
	return document.Parse(snapshot.Body)
}
