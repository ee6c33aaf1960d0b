package state

import (
	"context"
	"fmt"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/state/document"
)

// DiffQuery says which versions to compare, and what to show of them.
type DiffQuery struct {
	Number  uint64
	Against uint64 // the version to start from; 0 is the one before Number
	DiffOptions
}

// DiffOptions say how a difference is shown.
type DiffOptions struct {
	// Sensitive shows sensitive values instead of masking them; that is recorded.
	Sensitive bool
	// Text writes it for people, in the manner of a plan, as document.WriteText does;
	// without it, it is for programs, as document.WriteJSON writes it.
	Text bool
}

// diffPart is which part of what is compared the memory for a difference is, one of so
// many. Most are far smaller, and one that is larger acquires more.
const diffPart = 8

// Diff compares two versions; what was before version 1 is nothing. Faults:
// VersionNotFound, VersionPurged, StateEncrypted, StateUnsupported, Overloaded. The caller
// closes it.
func (s *Service) Diff(ctx context.Context, p auth.Principal, name Name, q DiffQuery) (*Rendered, error) {
	ref, err := s.authorizeShown(ctx, p, auth.ReadState, name, q.Sensitive)
	if err != nil {
		return nil, err
	}
	to, err := s.describedVersion(ctx, ref, q.Number)
	if err != nil {
		return nil, err
	}
	if q.Against == 0 {
		q.Against = q.Number - 1
	}
	var from Version
	if q.Against > 0 {
		if from, err = s.describedVersion(ctx, ref, q.Against); err != nil {
			return nil, err
		}
	}
	return s.difference(ctx, ref, from.Size+to.Size, q.DiffOptions,
		func(memory document.Memory) (c comparison, err error) {
			if c.to, err = s.parsed(ctx, ref, to, memory); err != nil {
				return c, err
			}
			if c.from, err = s.parsedIfAny(ctx, ref, from, memory); err == nil && q.Sensitive {
				err = s.reveal(ctx, p, ref, q.Number, fmt.Sprintf("difference to version %d", q.Against))
			}
			return c, err
		})
}

// CandidateDiff compares an open candidate with the newest version; where there is no
// state, with nothing. Faults: CandidateNotFound, CandidateSettled, and those of Diff. The
// caller closes it.
func (s *Service) CandidateDiff(ctx context.Context, p auth.Principal, name Name, id string,
	o DiffOptions) (*Rendered, error) {
	ref, err := s.authorizeShown(ctx, p, auth.ReadState, name, o.Sensitive)
	if err != nil {
		return nil, err
	}
	candidate, err := s.describedCandidate(ctx, ref, id)
	if err == nil && candidate.Status != Open {
		err = errSettled(candidate)
	}
	if err != nil {
		return nil, err
	}
	from, err := s.describedVersion(ctx, ref, 0)
	if err != nil && !fault.Is(err, fault.StateNotFound) {
		return nil, err
	}
	return s.difference(ctx, ref, from.Size+candidate.Size, o, func(memory document.Memory) (c comparison, err error) {
		if c.to, err = s.parsedCandidate(ctx, ref, id, memory); err != nil {
			return c, err
		}
		if c.from, err = s.parsedIfAny(ctx, ref, from, memory); err == nil && o.Sensitive {
			err = s.reveal(ctx, p, ref, candidate.Number, "candidate "+id)
		}
		return c, err
	})
}

// comparison is what is compared.
type comparison struct{ from, to *document.Document }

// difference shows how what read returns differs, which takes so many bytes together.
func (s *Service) difference(ctx context.Context, ref Ref, bodies int64, o DiffOptions,
	read func(document.Memory) (comparison, error)) (*Rendered, error) {
	return s.look(ctx, ref, bodies, bodies/diffPart, func(w *budget.Buffer) error {
		c, err := read(w.Beside)
		if err != nil {
			return err
		}
		options := document.Options{Reveal: o.Sensitive, Memory: w.Beside}
		if o.Text {
			return document.WriteText(w, c.from, c.to, options, nil)
		}
		return document.WriteJSON(w, c.from, c.to, options)
	})
}

// parsedIfAny is parsed, and an empty document for the zero Version, which was never
// written.
func (s *Service) parsedIfAny(ctx context.Context, ref Ref, known Version,
	memory document.Memory) (*document.Document, error) {
	if known.Number == 0 {
		return &document.Document{}, nil
	}
	return s.parsed(ctx, ref, known, memory)
}

func (s *Service) parsedCandidate(ctx context.Context, ref Ref, id string,
	memory document.Memory) (*document.Document, error) {
	candidate, err := s.store.Candidate(ctx, ref, id)
	if err == nil && candidate.Status != Open {
		err = errSettled(candidate.Candidate)
	}
	if err != nil {
		return nil, err
	}
	return document.ParseWithin(candidate.Body, memory)
}
