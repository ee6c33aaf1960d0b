package statetest_test

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
)

// expectationBreakages are the stores that break a promise about what is expected of states, and
// about the twins of candidates.
func expectationBreakages() map[string]breakage {
	plain := func(wrap func(state.Store) state.Store, checks ...string) breakage { return breakage{wrap, checks} }
	return map[string]breakage{
		"expects nothing": plain(bendsChanges(func(c *state.Change) { c.Expect = nil }), "Expectations",
			"ExpectationSeen", "ExpectationList"),
		"never ends what it expects": plain(bendsChanges(keepsExpecting), "Expectations", "ExpectationSeen",
			"ExpectationList"),
		"hides what is expected":      plain(seesHeads(func(h *state.Head) { h.Expected = nil }), "ExpectationSeen"),
		"expects apart from the rest": plain(expectsApart, "ExpectationAtomic"),
		"forgets who uses it":         plain(bendsChanges(forgetsUser), "Expectations"),
		"lists what it does not expect": plain(func(s state.Store) state.Store { return listsUnexpected{s} },
			"ExpectationList"),
		"leaves twins alone":     plain(bendsChanges(leavesTwinsOpen), "Twins"),
		"settles without a twin": plain(bendsChanges(settlesAll), "Twins"),
	}
}

func keepsExpecting(c *state.Change) {
	if c.Expect != nil && c.Expect.Findings == 0 {
		c.Expect = nil
	}
}

func forgetsUser(c *state.Change) {
	if c.Expect != nil {
		e := *c.Expect
		e.LockID = ""
		c.Expect = &e
	}
}

// expectsApart announces before the rest, in a transaction of its own.
func expectsApart(next state.Store) state.Store {
	return twisted{next, func(c call) (state.Head, error) {
		_, err := c.next.Update(c.ctx, c.ref, nil, func(h state.Head) (state.Change, error) {
			change, err := c.decide(h)
			return state.Change{Expect: change.Expect}, err
		})
		if err != nil {
			return state.Head{}, err
		}
		return c.make()
	}}
}

func leavesTwinsOpen(c *state.Change) {
	if c.Settle != nil && c.Settle.ID != "" {
		s := *c.Settle
		s.Content = state.Digest{}
		c.Settle = &s
	}
}

// settlesAll takes the content of every candidate for the same.
func settlesAll(c *state.Change) {
	if c.Candidate != nil {
		made := *c.Candidate
		made.Content = state.Digest{1}
		c.Candidate = &made
	}
}

// listsUnexpected lists all states.
type listsUnexpected struct{ state.Store }

func (s listsUnexpected) States(ctx context.Context, org uuid.UUID, q state.StatesQuery) (state.Page, error) {
	q.Expected = false
	return s.Store.States(ctx, org, q)
}
