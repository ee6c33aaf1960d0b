package stateengine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
)

// SealMode says how far a store is sealed.
type SealMode int32

// How far a store is sealed.
const (
	Unsealed SealMode = iota // what is written is plain
	Sealing                  // what is written is sealed; what was there before may be plain
	Sealed                   // what is plain is not believed
)

// What is sealed as one of these opens as no other.
const (
	kindVersion   seal.Kind = "state version"
	kindCandidate seal.Kind = "state candidate"
	kindDigest    seal.Kind = "state digest"
	kindContent   seal.Kind = "state content"
)

// sealedPrefix is what the encoding of what is sealed begins with.
const sealedPrefix = "sealed-"

// Seals seals what a database keeps of states, once it is told to. The zero Seals is of a store that is not.
type Seals struct {
	sealer *seal.Sealer // nil without a master key
	log    *slog.Logger
	mode   atomic.Int32
}

// Use has it seal with s, which may be nil: then what is sealed can't be read.
func (s *Seals) Use(sealer *seal.Sealer, log *slog.Logger) { s.sealer, s.log = sealer, log }

// Mode says how far the store is sealed.
func (s *Seals) Mode() SealMode {
	if s == nil {
		return Unsealed
	}
	return SealMode(s.mode.Load())
}

// Become changes what Mode says.
func (s *Seals) Become(mode SealMode) { s.mode.Store(int32(mode)) }

// Sealer is what it seals with; nil without a master key.
func (s *Seals) Sealer() *seal.Sealer { return s.sealer }

// Forget drops the keys of an organization, which were destroyed.
func (s *Seals) Forget(org uuid.UUID) {
	if s.sealer != nil {
		s.sealer.Forget(org)
	}
}

// tell has the log say which body is not what was sealed.
func (s *Seals) tell(e Envelope, p Place, err error) {
	if s.log != nil {
		s.log.ErrorContext(e.ctx, "what is stored of a state is not what was sealed", "org", e.ref.Org, "state", e.ref.Name,
			"version", p.Number, "candidate", p.Candidate, "error", err)
	}
}

// Of returns what opens the rows of a state. It is asked for before they are read: what was plain then may have been
// sealed since.
func (s *Seals) Of(ctx context.Context, ref state.Ref) Envelope {
	return Envelope{ctx: ctx, seals: s, ref: ref, strict: s.Mode() == Sealed}
}

// Writing returns what seals the rows of a state too. It may make the organization's first key, so that nobody calls
// it in a transaction.
func (s *Seals) Writing(ctx context.Context, ref state.Ref) (Envelope, error) {
	e := s.Of(ctx, ref)
	if s.Mode() == Unsealed {
		return e, nil
	}
	if s.sealer == nil {
		return e, errNoMaster()
	}
	keys, err := s.sealer.Of(ctx, ref.Org)
	e.keys = keys
	return e, err
}

func errNoMaster() error {
	return fault.New(fault.SealKeyMissing, "the states are sealed, and the server has no master key to open them with")
}

// Envelope seals and opens the rows of one state.
type Envelope struct {
	ctx    context.Context
	seals  *Seals
	ref    state.Ref
	strict bool               // nothing plain is believed
	around bool               // a digest of an organization that the master keys have forgotten is left out
	keys   *seal.Organization // nil for who only opens, and where nothing is sealed
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

// plainSince reports whether what would be written plain has to be sealed since.
func (e Envelope) plainSince() bool { return e.keys == nil && e.seals.Mode() != Unsealed }

// Still is a fault where a body is plain, and the store seals since.
func (s *Seals) Still(packed Stored) error {
	if s.Mode() == Unsealed || strings.HasPrefix(packed.Encoding, sealedPrefix) {
		return nil
	}
	return fault.New(fault.StoreUnavailable, "the store began to seal states meanwhile; ask again")
}

// HideKept returns what takes the place of a digest and a content digest in a row, which may be none.
func (e Envelope) HideKept(kept, content []byte) (digest, hidden []byte, err error) {
	if len(kept) != len(state.Digest{}) {
		return nil, nil, fmt.Errorf("a digest has %d bytes", len(kept))
	}
	if digest, err = e.Hide(state.Digest(kept)); err != nil || len(content) == 0 {
		return digest, []byte{}, err
	}
	if len(content) != len(state.Digest{}) {
		return nil, nil, fmt.Errorf("a content digest has %d bytes", len(content))
	}
	hidden, err = e.hide(kindContent, state.Digest(content))
	return digest, hidden, err
}

// Seals reports whether what is written is sealed.
func (e Envelope) Seals() bool { return e.keys != nil }

// Seal returns a body as it is to be stored. One that is sealed stays as it is: while a store is being sealed, a purge
// stores bodies anew, and sealed, whose rows say for now that they are plain.
func (e Envelope) Seal(p Place, s Stored) (Stored, error) {
	if e.keys == nil || strings.HasPrefix(s.Encoding, sealedPrefix) {
		return s, nil
	}
	kind, name := e.bound(p, s.Encoding)
	sealed, err := e.keys.Seal(kind, name, s.Bytes)
	if err != nil {
		return Stored{}, err
	}
	s.Encoding, s.Bytes = sealedPrefix+s.Encoding, sealed
	return s, nil
}

// Open undoes Seal. What is plain stays as it is where that is believed.
func (e Envelope) Open(p Place, s Stored) (Stored, error) {
	encoding, sealed := strings.CutPrefix(s.Encoding, sealedPrefix)
	switch {
	case s.Encoding == "":
		return s, nil // it is gone, which is for others to say
	case !sealed && e.strict:
		return Stored{}, fault.New(fault.SealCorrupt, "what is kept of the state is not sealed, in a store that is")
	case !sealed:
		return s, nil
	case e.seals == nil || e.seals.sealer == nil:
		return Stored{}, errNoMaster()
	}
	kind, name := e.bound(p, encoding)
	plain, err := e.seals.sealer.Open(e.ctx, e.ref.Org, kind, name, s.Bytes)
	if err != nil {
		return Stored{}, err
	}
	s.Encoding, s.Bytes = encoding, plain
	if strings.HasPrefix(encoding, sealedPrefix) { // twice, as versions before 2026-11-27 did (see Seal)
		return e.Open(p, s)
	}
	return s, nil
}

// Hide returns a digest as a row is to have it.
func (e Envelope) Hide(d state.Digest) ([]byte, error) { return e.hide(kindDigest, d) }

func (e Envelope) hide(kind seal.Kind, d state.Digest) ([]byte, error) {
	if e.keys == nil {
		return d[:], nil
	}
	return e.keys.Hide(kind, string(e.ref.Name), d)
}

// HideBoth returns a digest and a content digest as rows are to have them.
func (e Envelope) HideBoth(d, content state.Digest) (digest, hidden []byte, err error) {
	if digest, err = e.Hide(d); err != nil {
		return nil, nil, err
	}
	hidden, err = e.hide(kindContent, content)
	return digest, hidden, err
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
	switch {
	case len(kept) == len(d) && !e.strict:
		return state.Digest(kept), nil
	case len(kept) != seal.HiddenSize:
		return d, damaged(fmt.Errorf("a digest has %d bytes", len(kept)))
	case e.seals == nil || e.seals.sealer == nil:
		return d, errNoMaster()
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

// Forms are the ways in which rows may have a digest: plain, and hidden once the store is sealed.
type Forms [2][]byte

// Forms returns those of a digest.
func (e Envelope) Forms(d state.Digest) (Forms, error) { return e.forms(kindDigest, d) }

// ContentForms returns those of a content digest.
func (e Envelope) ContentForms(d state.Digest) (Forms, error) { return e.forms(kindContent, d) }

func (e Envelope) forms(kind seal.Kind, d state.Digest) (Forms, error) {
	hidden, err := e.hide(kind, d)
	return Forms{d[:], hidden}, err
}

// FormsOf returns those of the digest that a row has. Of one that is damaged that is all there is.
func (e Envelope) FormsOf(kept []byte) Forms {
	d, err := e.Digest(kept)
	if err != nil {
		return Forms{kept, kept}
	}
	forms, err := e.Forms(d)
	if err != nil {
		return Forms{kept, kept}
	}
	return forms
}

// Is reports whether a row's digest is one of the forms.
func (f Forms) Is(kept []byte) bool {
	return len(kept) > 0 && (string(kept) == string(f[0]) || string(kept) == string(f[1]))
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
