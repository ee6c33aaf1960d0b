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

// Difference is how one state became another. It holds both in memory until it is closed.
type Difference struct {
	from, to *document.Document
	options  document.Options
	release  func()
}

// Close lets go of the states. It may be called again.
func (d *Difference) Close() {
	d.from, d.to = nil, nil
	d.release()
}

// WriteJSON writes it for programs, as document.WriteJSON says.
func (d *Difference) WriteJSON(w io.Writer) error {
	return document.WriteJSON(w, d.from, d.to, d.options)
}

// WriteText writes it for people, in the manner of a plan.
func (d *Difference) WriteText(w io.Writer) error {
	return document.WriteText(w, d.from, d.to, d.options, nil)
}

// Diff compares two versions; what was before version 1 is nothing. Faults:
// VersionNotFound, VersionPurged, StateEncrypted, StateUnsupported, Overloaded. The caller
// closes the Difference.
func (s *Service) Diff(ctx context.Context, p auth.Principal, name Name, q DiffQuery) (*Difference, error) {
	ref, err := s.enter(ctx, p, auth.ReadState, name)
	if err != nil {
		return nil, err
	}
	numbers := []uint64{q.Number}
	if q.Against == 0 {
		q.Against = q.Number - 1
	}
	if q.Against > 0 {
		numbers = append(numbers, q.Against)
	}
	release, err := s.roomFor(ctx, ref, numbers...)
	if err != nil {
		return nil, err
	}
	d := &Difference{options: document.Options{Reveal: q.Sensitive}, release: release}
	if err := s.compare(ctx, p, ref, q, d); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// compare reads what Diff compares.
func (s *Service) compare(ctx context.Context, p auth.Principal, ref Ref, q DiffQuery, d *Difference) (err error) {
	if d.to, err = s.readable(ctx, ref, q.Number); err != nil {
		return err
	}
	d.from = &document.Document{}
	if q.Against > 0 {
		if d.from, err = s.readable(ctx, ref, q.Against); err != nil {
			return err
		}
	}
	if q.Sensitive {
		err = s.reveal(ctx, p, ref, q.Number, fmt.Sprintf("difference to version %d", q.Against))
	}
	return err
}

// CandidateDiff compares an open candidate with the newest version; where there is no
// state, with nothing. Faults: CandidateNotFound, CandidateSettled, and those of Diff. The
// caller closes the Difference.
func (s *Service) CandidateDiff(ctx context.Context, p auth.Principal, name Name, id string, sensitive bool) (*Difference, error) {
	ref, err := s.enter(ctx, p, auth.ReadState, name)
	if err != nil {
		return nil, err
	}
	release, err := s.roomFor(ctx, ref, 0, 0) // most candidates are about as large as the newest
	if err != nil {
		return nil, err
	}
	d := &Difference{options: document.Options{Reveal: sensitive}, release: release}
	if err := s.compareCandidate(ctx, p, ref, id, d); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// compareCandidate reads what CandidateDiff compares.
func (s *Service) compareCandidate(ctx context.Context, p auth.Principal, ref Ref, id string, d *Difference) error {
	candidate, err := s.store.Candidate(ctx, ref, id)
	if err == nil && candidate.Status != Open {
		err = errSettled(candidate.Candidate)
	}
	if err != nil {
		return err
	}
	if d.to, err = document.Parse(candidate.Body); err != nil {
		return err
	}
	d.from, err = s.readable(ctx, ref, 0)
	if fault.Is(err, fault.StateNotFound) {
		d.from, err = &document.Document{}, nil
	}
	if err == nil && d.options.Reveal {
		err = s.reveal(ctx, p, ref, candidate.Number, "candidate "+id)
	}
	return err
}

// readable parses a version; number 0 is the newest of a state that exists. What the store
// needed to read a large one, about as much as it takes there, is collected.
func (s *Service) readable(ctx context.Context, ref Ref, number uint64) (*document.Document, error) {
	snapshot, err := s.version(ctx, ref, number)
	if err != nil {
		return nil, err
	}
	collect(snapshot.Size)
	return document.Parse(snapshot.Body)
}
