package handlers

import (
	"context"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/workspace"
)

// home shows what needs somebody, and how things are, in one answer: its parts are what people see
// of each by itself, and each is bounded by itself.
type home struct {
	states     *state.Service
	runs       *runs.Service      // nil for none
	workspaces *workspace.Service // nil for none
	lists      lists
	now        func() time.Time
}

const (
	// homeShown is how many of each that needs somebody are shown.
	homeShown = 20
	// homeDays is how many days are counted.
	homeDays = 7
	// homeRecent is how many recent runs are shown.
	homeRecent = 10
	// homeKinds is how many kinds of files are shown.
	homeKinds = 12
	// homePages of homePage names each are looked at, of states and of workspaces.
	homePages, homePage = 4, 500
	// homeLooks pages of homeLook runs are looked at for those of a caller who sees some workspaces only.
	homeLooks, homeLook = 5, 100
	// homeDrifted is how many workspaces that have drifted are named.
	homeDrifted = 1000
	// homeBytes is the most that an answer and one page of what it is made of take.
	homeBytes = 6 << 20
)

func (d Deps) routeHome(all section, native gin.HandlerFunc, guard *middleware.Guard) {
	h := home{d.States, d.Runs, d.Workspaces, lists{d.Limits.Memory}, d.Now}
	all.tagged(tagCallers).route("GET", "/api/v1/home",
		op("showHome", "What needs somebody, and what went on of late").gives(api.Home{}), h.show,
		native, guard.States(nil), middleware.Admit(0))
}

func (h home) show(ctx context.Context, r *request) (answer, error) {
	return h.lists.answer(ctx, r, homeBytes, func() (listing, error) {
		said, err := h.look(ctx, r.caller)
		return listing{answer: said, takes: homeBytes / 2}, err
	})
}

// look leaves out what the caller may not read, rather than refuse all of it.
func (h home) look(ctx context.Context, p auth.Principal) (said api.Home, err error) {
	if p.May(auth.ReadRun) != nil && p.May(auth.ReadWorkspace) != nil {
		if err = h.states.PermitAll(ctx, p, auth.ReadMetadata); err != nil {
			return said, err
		}
	}
	if h.runs != nil && p.May(auth.ReadRun) == nil {
		said.Runs, err = h.ofRuns(ctx, p)
	}
	if err == nil && p.May(auth.ReadMetadata) == nil {
		said.States, err = h.ofStates(ctx, p)
	}
	if err == nil && h.workspaces != nil && p.May(auth.ReadWorkspace) == nil {
		said.Workspaces, err = h.ofWorkspaces(ctx, p)
	}
	return said, err
}

func (h home) ofRuns(ctx context.Context, p auth.Principal) (*api.HomeRuns, error) {
	said := &api.HomeRuns{}
	since := h.now().UTC().AddDate(0, 0, 1-homeDays).Truncate(24 * time.Hour)
	var err error
	if said.Waiting, said.WaitingMore, err = h.some(ctx, p, homeShown, runs.AwaitingApproval); err != nil {
		return nil, err
	}
	if said.Orphaned, said.OrphanedMore, err = h.some(ctx, p, homeShown, runs.Orphaned); err != nil {
		return nil, err
	}
	if said.Recent, _, err = h.some(ctx, p, homeRecent); err != nil {
		return nil, err
	}
	if err := h.ofTrouble(ctx, p, since, said); err != nil {
		return nil, err
	}
	outcomes, err := h.runs.Outcomes(ctx, p, since, h.now())
	if err == nil && p.States == nil {
		said.Days = daysOf(since, outcomes)
	}
	return said, err
}

func briefs(all []runs.Run) []api.Run { return items(all, runs.Run.Brief) }

// some returns the newest runs of these statuses, up to a number, and whether there are others. Who sees
// some workspaces only may find none of theirs on a page: it goes on for some of them.
func (h home) some(ctx context.Context, p auth.Principal, number int, of ...runs.Status) (found []api.Run, more bool,
	err error) {
	q := runs.Query{Status: of, Limit: number}
	for range homeLooks {
		page, err := h.runs.List(ctx, p, q)
		if err != nil {
			return nil, false, err
		}
		found = append(found, briefs(page.Runs)...)
		if q.Before = page.Next; q.Before == "" || len(found) >= number {
			break
		}
		q.Limit = homeLook
	}
	return append([]api.Run{}, found[:min(len(found), number)]...), len(found) > number || q.Before != "", nil
}

// ofTrouble has no failures that are over, and no drift that a later look has not found any more.
func (h home) ofTrouble(ctx context.Context, p auth.Principal, since time.Time, said *api.HomeRuns) error {
	all, newest, err := h.runs.Troubled(ctx, p, runs.TroubleFailed, since, homeShown)
	if err != nil {
		return err
	}
	said.Failed, said.FailedCount = briefs(newest), len(all)
	if all, newest, err = h.runs.Troubled(ctx, p, runs.TroubleDrift, time.Time{}, homeShown); err != nil {
		return err
	}
	said.Drift, said.DriftCount, said.Drifted = briefs(newest), len(all), []string{}
	for _, one := range all[:min(len(all), homeDrifted)] {
		said.Drifted = append(said.Drifted, one.Workspace)
	}
	return nil
}

func daysOf(since time.Time, outcomes []runs.Outcome) (days []api.HomeDay) {
	for i := range homeDays {
		day := api.HomeDay{Day: since.AddDate(0, 0, i).Format(time.DateOnly), Outcomes: map[string]int{}}
		for _, o := range outcomes {
			if o.Day.Format(time.DateOnly) == day.Day {
				day.Outcomes[string(o.Status)] += o.Runs
			}
		}
		days = append(days, day)
	}
	return days
}

func (h home) ofStates(ctx context.Context, p auth.Principal) (*api.HomeStates, error) {
	said := &api.HomeStates{Held: []string{}, Locks: []api.HomeLock{}}
	var err error
	if said.Count, said.More, err = h.states.Count(ctx, p); err != nil {
		return nil, err
	}
	err = h.eachState(ctx, p, state.StatesQuery{Held: true}, func(s state.Listed) {
		if len(said.Held) < homeShown {
			said.Held = append(said.Held, string(s.Name))
		}
	})
	if err != nil {
		return nil, err
	}
	err = h.eachState(ctx, p, state.StatesQuery{Locked: true}, func(s state.Listed) {
		l := s.Head.Lock
		said.Locks = append(said.Locks, api.HomeLock{State: string(s.Name), Who: l.Info.Who, Since: l.Since, Seen: l.Seen,
			Run: l.Run.ID})
		if len(said.Locks) > 2*homeShown {
			said.Locks = oldest(said.Locks)
		}
	})
	said.Locks = oldest(said.Locks)
	return said, err
}

func oldest(locks []api.HomeLock) []api.HomeLock {
	slices.SortStableFunc(locks, func(a, b api.HomeLock) int { return a.Since.Compare(b.Since) })
	return locks[:min(len(locks), homeShown)]
}

// eachState shows states, up to some pages of them.
func (h home) eachState(ctx context.Context, p auth.Principal, q state.StatesQuery, show func(state.Listed)) error {
	q.Limit = homePage
	for range homePages {
		page, err := h.states.States(ctx, p, q)
		if err != nil {
			return err
		}
		for _, s := range page.States {
			show(s)
		}
		if q.After = page.Next; q.After == "" {
			return nil
		}
	}
	return nil
}

func (h home) ofWorkspaces(ctx context.Context, p auth.Principal) (*api.HomeWorkspaces, error) {
	said, after := &api.HomeWorkspaces{Kinds: []api.FileKind{}}, ""
	var newest []workspace.Entry
	for range homePages {
		page, next, err := h.workspaces.List(ctx, p, after, homePage)
		if err != nil {
			return nil, err
		}
		for _, w := range page {
			said.Count, said.Files, said.Bytes = said.Count+1, said.Files+w.Newest.Files, said.Bytes+w.Newest.Bytes
			newest = append(newest, w.Newest)
		}
		if after = next; after == "" {
			break
		}
	}
	said.More = after != ""
	kinds, more, err := h.workspaces.Kinds(ctx, p.Org, newest)
	for _, k := range kinds[:min(len(kinds), homeKinds)] {
		said.Kinds = append(said.Kinds, api.FileKind(k))
	}
	said.KindsMore = more || said.More
	return said, err
}
