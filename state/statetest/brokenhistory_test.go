package statetest_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// historyBreakages are the stores that break a promise about history, candidates or the
// audit log.
func historyBreakages() map[string]breakage {
	plain := func(wrap func(state.Store) state.Store, checks ...string) breakage { return breakage{wrap, checks} }
	return map[string]breakage{
		"remembers one lock ID": plain(remembersOneID, "LockIDs"),
		"drops events": plain(bendsChanges(func(c *state.Change) { c.Events = c.Events[:len(c.Events)/2] }),
			"EventFields", "EventsAtomic", "EventOrder"),
		"keeps events of refusals": plain(keepsRefused, "EventsAtomic", "Settle", "CandidatesFull"),
		"settles twice":            plain(settlesTwice, "Settle", "SettleOnce"),
		"never undeletes": plain(bendsChanges(func(c *state.Change) { c.Undelete = false }), "Seen", "StatesKinds",
			"ExpungeKeeps", "Rules"),
		"sees nobody": plain(bendsChanges(func(c *state.Change) { c.Seen = false }), "Seen", "TakeOver"),
		"serves purged": plain(func(s state.Store) state.Store { return &servesPurged{Store: s} }, "Purge",
			"PurgeReads"),
		"prunes too much":          plain(func(s state.Store) state.Store { return prunesMore{s} }, "Prune"),
		"stops at the future":      plain(func(s state.Store) state.Store { return stopsAtFuture{s} }, "PruneWrongClock"),
		"follows any old version":  plain(func(s state.Store) state.Store { return followsOld{s} }, "PruneWrongClock"),
		"expunges the locked":      plain(func(s state.Store) state.Store { return expungesLocked{s} }, "ExpungeKeeps"),
		"expunges only in the end": plain(func(s state.Store) state.Store { return &expungesLate{Store: s} }, "Expunge"),
		"takes prefixes for globs": plain(func(s state.Store) state.Store { return globs{s} }, "States"),
		"sorts without case":       plain(func(s state.Store) state.Store { return foldsCase{s} }, "States"),
		"ends pages early": plain(func(s state.Store) state.Store { return endsEarly{s} }, "StatesKinds",
			"EventQueries"),
		"names the deleted":   plain(func(s state.Store) state.Store { return namesDeleted{s} }, "NameLists"),
		"names without end":   plain(func(s state.Store) state.Store { return namesOn{s} }, "NameLists"),
		"picks with capitals": plain(func(s state.Store) state.Store { return picksCase{s} }, "Picks"),
		"picks what is below": plain(func(s state.Store) state.Store { return picksBelow{s} }, "Picks"),
		"fills pages":         plain(func(s state.Store) state.Store { return fillsPages{s} }, "PageBytes"),
		"turns pages back": plain(func(s state.Store) state.Store { return turnsBack{s} }, "States",
			"EventQueries"),
		"lists without end":          plain(func(s state.Store) state.Store { return listsOn{s} }, "ListsEnd"),
		"forgets what was undeleted": plain(forgetsUndeleted, "Seen", "ExpungeKeeps"),
		"lists strangers": plain(func(s state.Store) state.Store { return listsStrangers{s} }, "StatesKinds",
			"States"),
		"repeats pages":             plain(func(s state.Store) state.Store { return repeatsPages{s} }, "All"),
		"filters behind the limit":  plain(func(s state.Store) state.Store { return filtersLate{s} }, "EventQueries"),
		"has gaps in the feed":      plain(func(s state.Store) state.Store { return gaps{s} }, "EventOrder", "FeedGapless"),
		"forgets versions' numbers": plain(func(s state.Store) state.Store { return offByOne{s} }, "VersionList"),
		"keeps what was settled":    plain(func(s state.Store) state.Store { return &keepsSettled{Store: s} }, "Candidates"),
		"takes purged bytes":        plain(bendsChanges(func(c *state.Change) { c.RestorePurged = true }), "PurgedBytes"),
		"takes them as candidates": plain(bendsChanges(func(c *state.Change) {
			c.RestorePurged = c.RestorePurged ||
				c.Candidate != nil
		}), "PurgedBytes"),
		"never restores the purged": plain(bendsChanges(func(c *state.Change) { c.RestorePurged = false }), "PurgedBytes"),
		"forgets what it pruned": plain(func(s state.Store) state.Store { return &forgetsPruned{Store: s} },
			"PurgedBytes"),
		"expunges candidates":        plain(func(s state.Store) state.Store { return expungesCandidates{s} }, "ExpungeWaits"),
		"leaves twins of the purged": plain(func(s state.Store) state.Store { return leavesTwins{s} }, "Purge"),
	}
}

// remembersOneID takes every released ID but the last for a new one.
func remembersOneID(next state.Store) state.Store {
	return twisted{next, func(c call) (state.Head, error) {
		head, err := c.make()
		if !fault.Is(err, fault.LockIDUsed) {
			return head, err
		}
		return c.next.Update(c.ctx, c.ref, c.body, func(h state.Head) (state.Change, error) {
			change, refusal := c.decide(h)
			if refusal != nil || h.ReleasedID == change.Lock.Info.ID || change.Release {
				return state.Change{}, err
			}
			lock := *change.Lock
			lock.Info.ID += " again"
			change.Lock = &lock
			return change, nil
		})
	}}
}

// keepsRefused records the events of Updates that failed.
func keepsRefused(next state.Store) state.Store {
	return twisted{next, func(c call) (state.Head, error) {
		var last state.Change
		head, err := c.next.Update(c.ctx, c.ref, c.body, func(h state.Head) (change state.Change, err error) {
			last, err = c.decide(h)
			return last, err
		})
		if err != nil {
			for _, event := range last.Events {
				event.Org = c.ref.Org
				_ = c.next.Record(c.ctx, event)
			}
		}
		return head, err
	}}
}

func settlesTwice(next state.Store) state.Store {
	return twisted{next, func(c call) (state.Head, error) {
		head, err := c.make()
		if !fault.Is(err, fault.CandidateSettled) {
			return head, err
		}
		return c.next.Update(c.ctx, c.ref, c.body, func(h state.Head) (state.Change, error) {
			change, err := c.decide(h)
			change.Settle = nil
			return change, err
		})
	}}
}

// servesPurged remembers bodies that it was asked to destroy.
type servesPurged struct {
	state.Store
	bodies sync.Map
}

func (s *servesPurged) Current(ctx context.Context, ref state.Ref) (state.Snapshot, error) {
	got, err := s.Store.Current(ctx, ref)
	if err == nil {
		s.bodies.Store(ref, got)
	}
	if kept, ok := s.bodies.Load(ref); ok && fault.Is(err, fault.VersionPurged) {
		return kept.(state.Snapshot), nil
	}
	return got, err
}

type prunesMore struct{ state.Store }

func (s prunesMore) Prune(ctx context.Context, ref state.Ref, p state.Pruning, event audit.Event) (int, error) {
	p.Before = p.Before.Add(time.Nanosecond)
	return s.Store.Prune(ctx, ref, p, event)
}

// stopsAtFuture prunes up to the first version that looks young.
type stopsAtFuture struct{ state.Store }

func (s stopsAtFuture) Prune(ctx context.Context, ref state.Ref, p state.Pruning, event audit.Event) (int, error) {
	versions, err := s.Versions(ctx, ref, 0, 1000)
	if err != nil {
		return 0, err
	}
	for _, v := range slices.Backward(versions) {
		if !v.CreatedAt.Before(p.Before) {
			break
		}
		p.Below = max(p.Below, v.Number+1)
	}
	p.Before = time.Time{}
	return s.Store.Prune(ctx, ref, p, event)
}

// followsOld prunes up to the last version that looks old, whatever is before it.
type followsOld struct{ state.Store }

func (s followsOld) Prune(ctx context.Context, ref state.Ref, p state.Pruning, event audit.Event) (int, error) {
	p.Now = p.Before
	return s.Store.Prune(ctx, ref, p, event)
}

type expungesLocked struct{ state.Store }

func (s expungesLocked) Expunge(ctx context.Context, ref state.Ref, before time.Time, limit int,
	event audit.Event) (bool, error) {
	release := func(h state.Head) (state.Change, error) { return state.Change{Release: h.Deleted}, nil }
	if _, err := s.Store.Update(ctx, ref, nil, release); err != nil {
		return false, err
	}
	return s.Store.Expunge(ctx, ref, before, limit, event)
}

// forgetsPruned knows of purged bytes from what describes their versions, until that goes.
type forgetsPruned struct {
	state.Store
	pruned atomic.Bool
}

func (s *forgetsPruned) Prune(ctx context.Context, ref state.Ref, p state.Pruning, event audit.Event) (int, error) {
	s.pruned.Store(true)
	return s.Store.Prune(ctx, ref, p, event)
}

func (s *forgetsPruned) Update(ctx context.Context, ref state.Ref, body []byte,
	decide state.Decide) (state.Head, error) {
	return s.Store.Update(ctx, ref, body, func(h state.Head) (state.Change, error) {
		change, err := decide(h)
		change.RestorePurged = change.RestorePurged || s.pruned.Load()
		return change, err
	})
}

// expungesCandidates ends what nobody has decided on.
type expungesCandidates struct{ state.Store }

func (s expungesCandidates) Expunge(ctx context.Context, ref state.Ref, before time.Time, limit int,
	event audit.Event) (bool, error) {
	open, err := s.Candidates(ctx, ref, "", 0)
	for _, c := range open {
		settle := state.Change{Settle: &state.Settlement{ID: c.ID, Status: state.Discarded, At: before}}
		if _, err := s.Update(ctx, ref, nil, func(state.Head) (state.Change, error) { return settle, nil }); err != nil {
			return false, err
		}
	}
	if err != nil {
		return false, err
	}
	return s.Store.Expunge(ctx, ref, before, limit, event)
}

// expungesLate prunes in pieces, and the state is seen until the last one.
type expungesLate struct {
	state.Store
	pieces int
}

func (s *expungesLate) Expunge(ctx context.Context, ref state.Ref, before time.Time, limit int,
	event audit.Event) (bool, error) {
	if s.pieces++; s.pieces < 4 {
		return false, nil
	}
	return s.Store.Expunge(ctx, ref, before, limit, event)
}

type globs struct{ state.Store }

func (s globs) States(ctx context.Context, org uuid.UUID, q state.StatesQuery) (state.Page, error) {
	q.Prefix = strings.TrimRight(q.Prefix, "_%")
	return s.Store.States(ctx, org, q)
}

type foldsCase struct{ state.Store }

func (s foldsCase) States(ctx context.Context, org uuid.UUID, q state.StatesQuery) (state.Page, error) {
	listed, err := s.Store.States(ctx, org, q)
	slices.SortFunc(listed.States, func(a, b state.Listed) int {
		return cmp.Compare(strings.ToLower(string(a.Name)), strings.ToLower(string(b.Name)))
	})
	return listed, err
}

// listsStrangers shows what is deleted to all, and everything to who has nothing.
type listsStrangers struct{ state.Store }

func (s listsStrangers) States(ctx context.Context, org uuid.UUID, q state.StatesQuery) (state.Page, error) {
	listed, err := s.Store.States(ctx, org, q)
	all, _ := s.All(ctx, state.Ref{}, 100)
	for _, one := range all {
		if len(listed.States) == 0 && q.After == "" && one.Ref.Org != org {
			listed.States = append(listed.States, state.Listed{Name: one.Ref.Name, Head: one.Head})
		}
	}
	return listed, err
}

// repeatsPages begins a page with the last of the one before.
type repeatsPages struct{ state.Store }

func (s repeatsPages) All(ctx context.Context, after state.Ref, limit int) ([]state.Located, error) {
	page, err := s.Store.All(ctx, after, limit)
	if after != (state.Ref{}) && len(page) > 0 {
		head, _ := s.Head(ctx, after)
		page = append([]state.Located{{Ref: after, Head: head}}, page...)
	}
	return page, err
}

type filtersLate struct{ state.Store }

func (s filtersLate) Events(ctx context.Context, org uuid.UUID, q audit.Query) (audit.Page, error) {
	page, err := s.Store.Events(ctx, org, audit.Query{Before: q.Before, Limit: q.Limit})
	found := slices.DeleteFunc(page.Events, func(e audit.Event) bool { return !q.Matches(e) })
	return audit.Page{Events: found}, err
}

// endsEarly says of a page that it is the last one.
type endsEarly struct{ state.Store }

func (s endsEarly) States(ctx context.Context, org uuid.UUID, q state.StatesQuery) (state.Page, error) {
	page, err := s.Store.States(ctx, org, q)
	if n := len(page.States); n > 1 {
		page.States, page.Next = page.States[:n-1], ""
	}
	return page, err
}

func (s endsEarly) Events(ctx context.Context, org uuid.UUID, q audit.Query) (audit.Page, error) {
	page, err := s.Store.Events(ctx, org, q)
	if n := len(page.Events); n > 1 {
		page.Events, page.Next = page.Events[:n-1], 0
	}
	return page, err
}

// fillsPages has as many states on a page as are asked for, whatever they take.
type fillsPages struct{ state.Store }

func (s fillsPages) States(ctx context.Context, org uuid.UUID, q state.StatesQuery) (page state.Page, err error) {
	for limit := q.Limit; len(page.States) < limit; {
		q.Limit = limit - len(page.States)
		more, err := s.Store.States(ctx, org, q)
		if err != nil {
			return page, err
		}
		page.States, page.Next, q.After = append(page.States, more.States...), more.Next, more.Next
		if more.Next == "" {
			break
		}
	}
	return page, nil
}

// turnsBack goes on where the page began.
type turnsBack struct{ state.Store }

func (s turnsBack) States(ctx context.Context, org uuid.UUID, q state.StatesQuery) (state.Page, error) {
	page, err := s.Store.States(ctx, org, q)
	if page.Next != "" || len(page.States) == 0 {
		page.States, page.Next = nil, max(q.After, "-")
	}
	return page, err
}

func (s turnsBack) Events(ctx context.Context, org uuid.UUID, q audit.Query) (audit.Page, error) {
	page, err := s.Store.Events(ctx, org, q)
	if page.Next != 0 || len(page.Events) == 0 {
		page.Events, page.Next = nil, max(q.Before, 1)
	}
	return page, err
}

// listsOn reads lists to their end, whatever became of the caller.
type listsOn struct{ state.Store }

func (s listsOn) Events(ctx context.Context, org uuid.UUID, q audit.Query) (audit.Page, error) {
	return s.Store.Events(context.WithoutCancel(ctx), org, q)
}

// forgetsUndeleted takes a state that was brought back for one that was never deleted.
func forgetsUndeleted(next state.Store) state.Store {
	return twisted{next, func(c call) (state.Head, error) {
		head, err := c.make()
		head.Undeleted = false
		return head, err
	}}
}

type gaps struct{ state.Store }

func (s gaps) Feed(ctx context.Context, after uint64, limit int) ([]audit.Event, error) {
	events, err := s.Store.Feed(ctx, after, limit)
	return slices.DeleteFunc(events, func(e audit.Event) bool { return e.Sequence == 5 }), err
}

// offByOne continues with the version that a page ended with.
type offByOne struct{ state.Store }

func (s offByOne) Versions(ctx context.Context, ref state.Ref, before uint64, limit int) ([]state.Version, error) {
	if before > 0 && before < 1<<62 {
		before++
	}
	return s.Store.Versions(ctx, ref, before, limit)
}

// keepsSettled still has the bytes of what it has shown once.
type keepsSettled struct {
	state.Store
	bodies sync.Map
}

func (s *keepsSettled) Candidate(ctx context.Context, ref state.Ref, id string) (state.CandidateBody, error) {
	got, err := s.Store.Candidate(ctx, ref, id)
	if err == nil && got.Body != nil {
		s.bodies.Store(id, got.Body)
	} else if kept, ok := s.bodies.Load(id); ok {
		got.Body = kept.([]byte)
	}
	return got, err
}

// leavesTwins shows the candidates that a purge has discarded as open ones.
type leavesTwins struct{ state.Store }

func (s leavesTwins) Candidate(ctx context.Context, ref state.Ref, id string) (state.CandidateBody, error) {
	got, err := s.Store.Candidate(ctx, ref, id)
	if got.Status == state.Discarded {
		got.Status, got.Decided, got.Body = state.Open, time.Time{}, []byte("secret")
	}
	return got, err
}
