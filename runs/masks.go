package runs

import (
	"context"
	"io"
	"slices"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/mask"
	"github.com/holdfast/holdfast/internal/sensitive"
)

// masks are the maskers of runs. An executor masks what it sends itself; it is masked again here,
// by the values that the run was given. They are in memory only: where they are not, because the
// server was started anew or many runs go on, they are what the workspace has now.
type masks struct {
	mu    sync.Mutex
	known *lru.Cache[maskKey, runMask]
	bytes int // of secrets, in all
}

// maskKey is a run as an executor has it: the next one may be given other values, by another server.
type maskKey struct {
	Ref
	epoch int64
}

func maskKeyOf(run Run) maskKey { return maskKey{run.Ref(), run.Epoch} }

// runMask is a masker, and how many bytes of secrets it knows.
type runMask struct {
	masker *mask.Masker
	bytes  int
}

// What maskers take is in proportion to their secrets, many times over.
const (
	maxMasks       = 64
	maxSecretBytes = 64 << 10
)

func newMasks() *masks {
	m := &masks{}
	m.known, _ = lru.NewWithEvict(maxMasks,
		func(_ maskKey, gone runMask) { m.bytes -= gone.bytes }) // it fails for a size below 1
	return m
}

// get returns the run's masker, if it is known.
func (m *masks) get(run Run) (*mask.Masker, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, ok := m.known.Get(maskKeyOf(run))
	return found.masker, ok
}

// put makes a masker of the values but for the words, and of the tokens that a run is given, in the place of an earlier
// one.
func (m *masks) put(run Run, inputs Inputs, words []string, tokens ...string) *mask.Masker {
	secrets := append(tokens, sensitive.Without(sensitive.Values(inputs.Variables, inputs.Environment), words)...)
	made := runMask{masker: mask.New(secrets)}
	for _, secret := range secrets {
		made.bytes += len(secret)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known.Remove(maskKeyOf(run))
	for m.known.Len() > 0 && m.bytes+made.bytes > maxSecretBytes {
		m.known.RemoveOldest()
	}
	m.known.Add(maskKeyOf(run), made)
	m.bytes += made.bytes
	return made.masker
}

// maskerOf returns the masker of a run that an executor has. A workspace that is gone has no values
// any more.
func (s *Service) maskerOf(ctx context.Context, run Run) (*mask.Masker, error) {
	if found, ok := s.masks.get(run); ok {
		return found, nil
	}
	_, inputs, err := s.inputsOf(ctx, run)
	if err != nil && fault.From(err).Code.Kind() != fault.NotFound {
		return nil, err
	}
	executors, err := s.Tokens.Sign(run, false)
	if err != nil {
		return nil, err
	}
	tools, err := s.Tokens.Sign(run, true)
	if err != nil {
		return nil, err
	}
	return s.masks.put(run, inputs, s.wordsOf(ctx, run, inputs), executors, tools), nil
}

// wordsOf returns the sensitive values that are not masked because they are words of the run's configuration. Where
// that can't be read there are none, and of a pull request that is kept from the values neither: it could say which
// they are.
func (s *Service) wordsOf(ctx context.Context, run Run, inputs Inputs) []string {
	if run.Order.Snapshot == "" || run.withholds() {
		return nil
	}
	words, err := sensitive.WordsIn(sensitive.Values(inputs.Variables, inputs.Environment), func(to io.Writer) error {
		return s.Workspaces.WriteArchive(ctx, run.Org, run.Workspace, run.Order.Snapshot, to)
	})
	if err != nil && ctx.Err() == nil {
		s.Log.WarnContext(ctx, "words of a configuration can't be found, so all sensitive values are masked", "run", run.ID,
			"error", err)
	}
	return words
}

// maskReport masks what an executor says of a phase that has ended.
func (s *Service) maskReport(ctx context.Context, run Run, r api.PhaseReport) (api.PhaseReport, error) {
	masker, err := s.maskerOf(ctx, run)
	if err != nil {
		return r, err
	}
	text := func(said string) string { return string(masker.Bytes([]byte(said))) }
	r.Slowest = slices.Clone(r.Slowest)
	for i := range r.Slowest {
		r.Slowest[i].Address, r.Slowest[i].Action = text(r.Slowest[i].Address), text(r.Slowest[i].Action)
	}
	r.Message, r.Found, r.InFlight = text(r.Message), slices.Clone(r.Found), maskInFlight(r.InFlight, text)
	for i, d := range r.Found {
		d.Severity, d.Summary, d.Detail, d.Address, d.File = text(d.Severity), text(d.Summary), text(d.Detail),
			text(d.Address), text(d.File)
		r.Found[i] = d
	}
	return r, nil
}

// maskRenewal masks what an executor says of what goes on.
func (s *Service) maskRenewal(ctx context.Context, run Run, l api.LeaseRenewal) (api.LeaseRenewal, error) {
	if len(l.InFlight) == 0 {
		return l, nil
	}
	masker, err := s.maskerOf(ctx, run)
	if err == nil {
		l.InFlight = maskInFlight(l.InFlight, func(said string) string { return string(masker.Bytes([]byte(said))) })
	}
	return l, err
}

func maskInFlight(all []api.InFlight, text func(string) string) []api.InFlight {
	all = slices.Clone(all)
	for i := range all {
		all[i].Address, all[i].Action = text(all[i].Address), text(all[i].Action)
	}
	return all
}
