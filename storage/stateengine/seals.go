package stateengine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
)

// What is sealed as one of these opens as no other.
const (
	kindVersion   seal.Kind = "state version"
	kindCandidate seal.Kind = "state candidate"
	kindDigest    seal.Kind = "state digest"
	kindContent   seal.Kind = "state content"
)

// Seals seals what a database keeps of states.
type Seals struct {
	sealer *seal.Sealer
	log    *slog.Logger
}

// Use has it seal with s, before anything is read or written.
func (s *Seals) Use(sealer *seal.Sealer, log *slog.Logger) { s.sealer, s.log = sealer, log }

// Sealer is what it seals with.
func (s *Seals) Sealer() *seal.Sealer { return s.sealer }

// Forget drops the keys of an organization, which were destroyed.
func (s *Seals) Forget(org uuid.UUID) { s.sealer.Forget(org) }

// tell has the log say which body is not what was sealed.
func (s *Seals) tell(e Envelope, p Place, err error) {
	if s.log != nil {
		s.log.ErrorContext(e.ctx, "what is stored of a state is not what was sealed", "org", e.ref.Org, "state", e.ref.Name,
			"version", p.Number, "candidate", p.Candidate, "error", err)
	}
}

// Of returns what opens the rows of a state.
func (s *Seals) Of(ctx context.Context, ref state.Ref) Envelope {
	return Envelope{ctx: ctx, seals: s, ref: ref}
}

// Writing returns what seals the rows of a state too. It may make the organization's first key, so that nobody calls
// it in a transaction.
func (s *Seals) Writing(ctx context.Context, ref state.Ref) (e Envelope, err error) {
	e = s.Of(ctx, ref)
	e.keys, err = s.sealer.Of(ctx, ref.Org)
	return e, err
}

// Envelope seals and opens the rows of one state.
type Envelope struct {
	ctx    context.Context
	seals  *Seals
	ref    state.Ref
	around bool               // a digest of an organization that the master keys have forgotten is left out
	keys   *seal.Organization // nil for who only opens
}

// Place says which of a state's bodies is meant: that of a version, or of a candidate.
type Place struct {
	Number    uint64
	Candidate string
}

// bound is the kind and the name that a body is sealed under: its encoding, what it is of, and the state.
func (e Envelope) bound(p Place, encoding string) (kind seal.Kind, name string) {
	if p.Candidate != "" {
		return kindCandidate, encoding + " " + p.Candidate + " " + string(e.ref.Name)
	}
	return kindVersion, encoding + " " + strconv.FormatUint(p.Number, 10) + " " + string(e.ref.Name)
}

// Ref is the state.
func (e Envelope) Ref() state.Ref { return e.ref }

// Seal returns a body as it is to be stored.
func (e Envelope) Seal(p Place, s Stored) (Stored, error) {
	kind, name := e.bound(p, s.Encoding)
	sealed, err := e.keys.Seal(kind, name, s.Bytes)
	if err != nil {
		return Stored{}, err
	}
	s.Bytes = sealed
	return s, nil
}

// Open undoes Seal.
func (e Envelope) Open(p Place, s Stored) (Stored, error) {
	if s.Encoding == "" {
		return s, nil // it is gone, which is for others to say
	}
	kind, name := e.bound(p, s.Encoding)
	plain, err := e.seals.sealer.Open(e.ctx, e.ref.Org, kind, name, s.Bytes)
	if err != nil {
		return Stored{}, err
	}
	s.Bytes = plain
	return s, nil
}

// Hide returns a digest as a row is to have it.
func (e Envelope) Hide(d state.Digest) ([]byte, error) {
	return e.keys.Hide(kindDigest, string(e.ref.Name), d)
}

// HideContent returns a content digest as a row is to have it.
func (e Envelope) HideContent(d state.Digest) ([]byte, error) {
	return e.keys.Hide(kindContent, string(e.ref.Name), d)
}

// Digest returns the digest that a row has.
func (e Envelope) Digest(kept []byte) (state.Digest, error) {
	d, err := e.reveal(kindDigest, kept)
	if e.around && errors.Is(err, seal.ErrForgotten) {
		return state.Digest{}, nil
	}
	return d, err
}

// Content returns the content digest that a row has, which may be none.
func (e Envelope) Content(kept []byte) (state.Digest, error) {
	if len(kept) == 0 {
		return state.Digest{}, nil
	}
	return e.reveal(kindContent, kept)
}

func (e Envelope) reveal(kind seal.Kind, kept []byte) (d state.Digest, err error) {
	damaged := func(err error) error {
		return fault.Wrap(err, fault.StateCorrupt, "what describes a version is damaged; an operator must restore it")
	}
	if len(kept) != seal.HiddenSize {
		return d, damaged(fmt.Errorf("a digest has %d bytes", len(kept)))
	}
	keys := e.keys
	if keys == nil {
		if keys, err = e.seals.sealer.Known(e.ctx, e.ref.Org); err != nil {
			return d, err
		}
	}
	if d, err = keys.Reveal(kind, string(e.ref.Name), kept); fault.Is(err, fault.SealCorrupt) {
		return d, damaged(err)
	}
	return d, err
}

// ScanVersion reads VersionColumns.
func (e Envelope) ScanVersion(scan Scan) (state.Version, error) {
	var row VersionRow
	if err := scan(row.Fields()...); err != nil {
		return state.Version{}, err
	}
	return row.Value(e)
}

// ScanCandidate reads a row of CandidateColumns.
func (e Envelope) ScanCandidate(scan Scan) (state.Candidate, error) {
	var row CandidateRow
	if err := scan(row.Fields()...); err != nil {
		return state.Candidate{}, err
	}
	return row.Value(e)
}

// Listed returns what reads a name of an organization's, how many candidates are open, and HeadColumns.
func (s *Seals) Listed(ctx context.Context, org uuid.UUID) func(Scan) (state.Listed, error) {
	e := s.Of(ctx, state.Ref{Org: org})
	return func(scan Scan) (listed state.Listed, err error) {
		row, err := scanHead(scan, &listed.Name, &listed.OpenCandidates)
		if err != nil {
			return listed, err
		}
		e.ref.Name = listed.Name
		found, err := row.Value(e)
		listed.Head = found.Head
		return listed, err
	}
}

// Located returns what reads an organization, a name, and HeadColumns.
func (s *Seals) Located(ctx context.Context) func(Scan) (state.Located, error) {
	e := s.Of(ctx, state.Ref{})
	e.around = true // one organization keeps nobody else's states out of a list of all
	return func(scan Scan) (located state.Located, err error) {
		var org string
		row, err := scanHead(scan, &org, &located.Ref.Name)
		if err == nil {
			located.Ref.Org, err = uuid.Parse(org)
		}
		if err != nil {
			return located, err
		}
		e.ref = located.Ref
		found, err := row.Value(e)
		located.Head = found.Head
		return located, err
	}
}
