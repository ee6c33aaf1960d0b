package state_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/document"
	"github.com/holdfast/holdfast/storage/memory"
)

// charged is a store that fails the test when it has to load a body for which nothing was
// acquired.
type charged struct {
	state.Store
	t      *testing.T
	memory *budget.Budget
	loaded int64 // the largest

	candidates int   // with their bytes
	fails      error // of reads of versions
}

func (c *charged) check(what string, size int64) {
	if used := c.memory.InUse(); used < size {
		c.t.Errorf("%s loads %d bytes, and %d are in use", what, size, used)
	}
	c.loaded = max(c.loaded, size)
}

func (c *charged) Current(ctx context.Context, ref state.Ref) (state.Snapshot, error) {
	if c.fails != nil {
		return state.Snapshot{}, c.fails
	}
	s, err := c.Store.Current(ctx, ref)
	c.check("Current", s.Size)
	return s, err
}

func (c *charged) Version(ctx context.Context, ref state.Ref, number uint64) (state.Snapshot, error) {
	if c.fails != nil {
		return state.Snapshot{}, c.fails
	}
	s, err := c.Store.Version(ctx, ref, number)
	c.check("Version", s.Size)
	return s, err
}

func (c *charged) Candidate(ctx context.Context, ref state.Ref, id string) (state.CandidateBody, error) {
	s, err := c.Store.Candidate(ctx, ref, id)
	if c.check("Candidate", int64(len(s.Body))); s.Body != nil {
		c.candidates++
	}
	return s, err
}

// larder is a service with bodies of very different sizes.
type larder struct {
	*state.Service
	store     *charged
	memory    *budget.Budget
	p         auth.Principal
	candidate state.Candidate
	sizes     map[uint64]int64 // of the versions
}

const (
	capacity = 10 << 20
	small    = 1000
	large    = 1 << 20
)

// spaced is a state of about this size with one output.
func spaced(serial, size int) []byte {
	return fmt.Appendf(nil, `{"version":4,"serial":%d,"lineage":"L","terraform_version":"1.9.0",%s"outputs":{"p":{"value":"v%d","type":"string"}},"resources":[]}`,
		serial, bytes.Repeat([]byte(" "), size), serial)
}

// newLarder has the versions 1 (small), 2 (large), 3 (small) and 4 (large), and a large candidate.
func newLarder(t *testing.T) *larder {
	l := &larder{memory: budget.New(capacity, "bytes"),
		p: auth.Principal{Org: uuid.New(), Grant: auth.Grant{Role: auth.Owner}}, sizes: map[uint64]int64{}}
	l.store = &charged{Store: memory.New(1 << 30), t: t, memory: l.memory}
	l.Service = state.NewService(l.store, state.DefaultPolicies{}, time.Now,
		slog.New(slog.DiscardHandler)).Within(l.memory)
	for i, size := range []int{small, large, small, large} {
		v, err := l.Put(t.Context(), l.p, "x", state.Write{Body: spaced(i+1, size)})
		if err != nil {
			t.Fatal(err)
		}
		l.sizes[v.Number] = v.Size
	}
	var err error
	if l.candidate, err = l.AddCandidate(t.Context(), l.p, "x", spaced(9, large), ""); err != nil {
		t.Fatal(err)
	}
	return l
}

// uses are all that the service does with bodies. Each holds something until its end is
// called; those without one have let go of everything when they return.
func (l *larder) uses(ctx context.Context) map[string]func() (held int64, end func(), err error) {
	exact := func(number uint64) func() (int64, func(), error) {
		return func() (int64, func(), error) {
			got, err := l.Version(ctx, l.p, "x", number)
			return got.Size, got.Release, err
		}
	}
	rendered := func(r *state.Rendered, err error) (int64, func(), error) {
		if err != nil {
			return 0, nil, err
		}
		return r.Len(), r.Close, nil
	}
	show := func(w io.Writer, all []document.Output) error { _, err := w.Write(all[0].Value); return err }
	return map[string]func() (int64, func(), error){
		"newest":           exact(0),
		"newest by number": exact(4),
		"an older version": exact(2),
		"a small version":  exact(1),
		"candidate": func() (int64, func(), error) {
			got, err := l.Candidate(ctx, l.p, "x", l.candidate.ID)
			return got.Size, got.Release, err
		},
		"redacted": func() (int64, func(), error) { return rendered(l.View(ctx, l.p, "x", state.RedactedView, 2)) },
		"outputs view": func() (int64, func(), error) {
			return rendered(l.View(ctx, l.p, "x", state.OutputsView, 0))
		},
		"outputs": func() (int64, func(), error) {
			return rendered(l.Outputs(ctx, l.p, "x", state.OutputsQuery{}, show))
		},
		"diff": func() (int64, func(), error) { return rendered(l.Diff(ctx, l.p, "x", state.DiffQuery{Number: 4})) },
		"diff of the first": func() (int64, func(), error) {
			return rendered(l.Diff(ctx, l.p, "x", state.DiffQuery{Number: 1, DiffOptions: state.DiffOptions{Text: true}}))
		},
		"candidate's diff": func() (int64, func(), error) {
			return rendered(l.CandidateDiff(ctx, l.p, "x", l.candidate.ID, state.DiffOptions{}))
		},
	}
}

// writes are what a service does with bodies beside those that it is given. Each is the
// last thing that is done.
func (l *larder) writes(ctx context.Context) map[string]func() error {
	return map[string]func() error{
		"rollback": func() error { _, err := l.Rollback(ctx, l.p, "x", 2, "why", ""); return err },
		"promote": func() error {
			_, err := l.Promote(ctx, l.p, "x", l.candidate.ID, state.Decision{Reason: "why", Anyway: true})
			return err
		},
		"replay": func() error { _, err := l.Put(ctx, l.p, "x", state.Write{Body: spaced(4, large)}); return err },
	}
}

// Every body is acquired before it is loaded, by its own size, and what an answer takes as
// long as it is sent.
func TestBodiesAreAcquiredBeforeTheyAreLoaded(t *testing.T) {
	l := newLarder(t)
	for name, use := range l.uses(t.Context()) {
		t.Run(name, func(t *testing.T) {
			l.store.loaded = 0
			held, end, err := use()
			if err != nil {
				t.Fatal(err)
			}
			if l.store.loaded == 0 {
				t.Error("nothing was loaded")
			}
			if used := l.memory.InUse(); used < held || used > 2*held+8<<10 { // beside a small part that is not filled
				t.Errorf("an answer of %d bytes holds %d", held, used)
			}
			end()
			end()
			if used := l.memory.InUse(); used != 0 {
				t.Errorf("%d are in use after its end", used)
			}
		})
	}
	for name := range l.writes(t.Context()) {
		t.Run(name, func(t *testing.T) {
			l := newLarder(t)
			l.store.loaded = 0
			if err := l.writes(t.Context())[name](); err != nil || l.store.loaded < large {
				t.Errorf("%v, and at most %d bytes were loaded", err, l.store.loaded)
			}
			if used := l.memory.InUse(); used != 0 {
				t.Errorf("%d are in use after its end", used)
			}
		})
	}
}

// What only describes candidates loads none of them.
func TestDescribingLoadsNothing(t *testing.T) {
	l := newLarder(t)
	if _, err := l.AddCandidate(t.Context(), l.p, "x", spaced(9, large), ""); err != nil {
		t.Error(err)
	}
	again := l.candidate.ID
	for range 2 { // the second is a replay
		if err := l.Discard(t.Context(), l.p, "x", again, "why"); err != nil {
			t.Error(err)
		}
	}
	if got, err := l.Candidate(t.Context(), l.p, "x", again); err != nil || got.Status != state.Discarded ||
		got.Body != nil {
		t.Errorf("%+v, %v", got.Candidate, err)
	}
	if l.store.candidates > 0 {
		t.Errorf("candidates were loaded %d times", l.store.candidates)
	}
}

// Where memory is short nothing is loaded: what makes an answer out of bodies waits for a
// while, all else is refused at once. Nothing stays acquired.
func TestBodiesWithoutMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits := map[string]bool{"redacted": true, "outputs view": true, "outputs": true, "diff": true,
			"diff of the first": false, "candidate's diff": true}
		l := newLarder(t)
		other := budget.Share{Org: uuid.New()}
		short := int64(capacity*9/10 - 100_000)
		l.memory.Force(other, short)
		l.store.loaded = 0
		for name, use := range l.uses(t.Context()) {
			before := time.Now()
			_, end, err := use()
			took := time.Since(before)
			if name == "a small version" || name == "diff of the first" { // there is enough for these
				if err != nil || took > 0 {
					t.Errorf("%s: %v after %v", name, err, took)
					continue
				}
				end()
				continue
			}
			if !fault.Is(err, fault.Overloaded) || waits[name] != (took == 30*time.Second) || !waits[name] && took > 0 {
				t.Errorf("%s: %v after %v", name, err, took)
			}
		}
		for name, write := range l.writes(t.Context()) {
			before := time.Now()
			if err := write(); !fault.Is(err, fault.Overloaded) || time.Since(before) > 0 {
				t.Errorf("%s: %v after %v", name, err, time.Since(before))
			}
		}
		if used := l.memory.InUse(); used != short || l.store.loaded >= large {
			t.Errorf("%d are in use, of %d that others have; %d bytes were loaded", used, short, l.store.loaded)
		}
	})
}

// Who holds the lock has what is kept for lock holders, for a rollback too.
func TestHoldersHaveMemory(t *testing.T) {
	for name, id := range map[string]string{"holder": "mine", "another's ID": "theirs", "none": ""} {
		l := newLarder(t)
		if _, err := l.Lock(t.Context(), l.p, "x", state.LockInfo{ID: "mine", Raw: []byte(`{"ID":"mine"}`)}); err != nil {
			t.Fatal(err)
		}
		l.memory.Force(budget.Share{Org: uuid.New()}, capacity*9/10)
		_, err := l.Rollback(t.Context(), l.p, "x", 1, "why", id)
		if fault.Is(err, fault.Overloaded) != (name != "holder") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What can't be shown holds nothing, and neither does what breaks down in the middle.
func TestNothingIsHeldForWhatFails(t *testing.T) {
	l := newLarder(t)
	version := func(name state.Name, number uint64) func() error {
		return func() error { _, err := l.Version(t.Context(), l.p, name, number); return err }
	}
	get := func(name state.Name) func() error {
		return func() error { _, err := l.Get(t.Context(), l.p, name); return err }
	}
	fails := map[string]func() error{
		"no such version":                 version("x", 9),
		"no such state":                   get("y"),
		"a read that fails":               l.failing(version("x", 2)),
		"a read of the newest that fails": l.failing(get("x")),
		"a rollback that fails":           l.failing(l.writes(t.Context())["rollback"]),
		"no such view": func() error {
			_, err := l.View(t.Context(), l.p, "y", state.RedactedView, 0)
			return err
		},
		"no such candidate": func() error {
			_, err := l.Candidate(t.Context(), l.p, "x", "0123456789abcdef")
			return err
		},
		"no such output": func() error {
			_, err := l.Outputs(t.Context(), l.p, "x", state.OutputsQuery{Key: "q"}, nil)
			return err
		},
		"a panic": func() (err error) {
			defer func() { err = fmt.Errorf("%v", recover()) }()
			_, err = l.Outputs(t.Context(), l.p, "x", state.OutputsQuery{}, nil)
			return err
		},
	}
	for name, fail := range fails {
		if err := fail(); err == nil {
			t.Errorf("%s did not fail", name)
		}
		if used := l.memory.InUse(); used != 0 {
			t.Errorf("%s: %d are in use", name, used)
		}
	}
}

// failing has reads of versions fail, as those do whose caller leaves in the middle.
func (l *larder) failing(do func() error) func() error {
	return func() error {
		l.store.fails = context.Canceled
		defer func() { l.store.fails = nil }()
		return do()
	}
}
