package runstest_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/runs"
)

// The stores here each break one promise, as a real store might.

// bent is a store some of whose methods are bent. What is nil is the store's below.
type bent struct {
	runs.Store
	create func(ctx context.Context, run runs.Run, key string, events []runs.Event,
		allow func(runs.Tally) error) (runs.Run, error)
	update    func(ctx context.Context, ref runs.Ref, decide runs.Decide) (runs.Run, error)
	claimable func(ctx context.Context, q runs.ClaimQuery) ([]runs.Ref, error)
	list      func(ctx context.Context, q runs.Query) (runs.Page, error)
	events    func(ctx context.Context, ref runs.Ref, after int64, limit int) ([]runs.Event, error)
	appendLog func(ctx context.Context, log runs.LogRef, end int64, pieces []runs.LogPiece,
		allow func(runs.Run) error) (int64, error)
	putPiece   func(ctx context.Context, file runs.FileRef, upload string, index int, sealed []byte) error
	complete   func(ctx context.Context, file runs.File, upload string, allow func(runs.Run) error) (runs.File, error)
	remove     func(ctx context.Context, ref runs.Ref) error
	tally      func(ctx context.Context, org uuid.UUID) (runs.Tally, error)
	due        func(ctx context.Context, now time.Time, after runs.Mark, limit int) ([]runs.Mark, error)
	oldest     func(ctx context.Context, org uuid.UUID, limit int) ([]runs.Ref, error)
	removeIdle func(ctx context.Context, before time.Time) error
}

func (s bent) Create(ctx context.Context, run runs.Run, key string, events []runs.Event,
	allow func(runs.Tally) error) (runs.Run, error) {
	if s.create == nil {
		return s.Store.Create(ctx, run, key, events, allow)
	}
	return s.create(ctx, run, key, events, allow)
}

func (s bent) Update(ctx context.Context, ref runs.Ref, decide runs.Decide) (runs.Run, error) {
	if s.update == nil {
		return s.Store.Update(ctx, ref, decide)
	}
	return s.update(ctx, ref, decide)
}

func (s bent) Claimable(ctx context.Context, q runs.ClaimQuery) ([]runs.Ref, error) {
	if s.claimable == nil {
		return s.Store.Claimable(ctx, q)
	}
	return s.claimable(ctx, q)
}

func (s bent) List(ctx context.Context, q runs.Query) (runs.Page, error) {
	if s.list == nil {
		return s.Store.List(ctx, q)
	}
	return s.list(ctx, q)
}

func (s bent) Events(ctx context.Context, ref runs.Ref, after int64, limit int) ([]runs.Event, error) {
	if s.events == nil {
		return s.Store.Events(ctx, ref, after, limit)
	}
	return s.events(ctx, ref, after, limit)
}

func (s bent) AppendLog(ctx context.Context, log runs.LogRef, end int64, pieces []runs.LogPiece,
	allow func(runs.Run) error) (int64, error) {
	if s.appendLog == nil {
		return s.Store.AppendLog(ctx, log, end, pieces, allow)
	}
	return s.appendLog(ctx, log, end, pieces, allow)
}

func (s bent) PutPiece(ctx context.Context, file runs.FileRef, upload string, index int, sealed []byte) error {
	if s.putPiece == nil {
		return s.Store.PutPiece(ctx, file, upload, index, sealed)
	}
	return s.putPiece(ctx, file, upload, index, sealed)
}

func (s bent) CompleteFile(ctx context.Context, file runs.File, upload string,
	allow func(runs.Run) error) (runs.File, error) {
	if s.complete == nil {
		return s.Store.CompleteFile(ctx, file, upload, allow)
	}
	return s.complete(ctx, file, upload, allow)
}

func (s bent) Remove(ctx context.Context, ref runs.Ref) error {
	if s.remove == nil {
		return s.Store.Remove(ctx, ref)
	}
	return s.remove(ctx, ref)
}

func (s bent) Tally(ctx context.Context, org uuid.UUID) (runs.Tally, error) {
	if s.tally == nil {
		return s.Store.Tally(ctx, org)
	}
	return s.tally(ctx, org)
}

func (s bent) Due(ctx context.Context, now time.Time, after runs.Mark, limit int) ([]runs.Mark, error) {
	if s.due == nil {
		return s.Store.Due(ctx, now, after, limit)
	}
	return s.due(ctx, now, after, limit)
}

func (s bent) Oldest(ctx context.Context, org uuid.UUID, limit int) ([]runs.Ref, error) {
	if s.oldest == nil {
		return s.Store.Oldest(ctx, org, limit)
	}
	return s.oldest(ctx, org, limit)
}

func (s bent) RemoveAgents(ctx context.Context, before time.Time) error {
	if s.removeIdle == nil {
		return s.Store.RemoveAgents(ctx, before)
	}
	return s.removeIdle(ctx, before)
}

// changes has a store's updates record something else than what was decided.
func changes(bend func(was runs.Run, c *runs.Change)) func(runs.Store) runs.Store {
	return func(next runs.Store) runs.Store {
		return bent{Store: next, update: func(ctx context.Context, ref runs.Ref, decide runs.Decide) (runs.Run, error) {
			return next.Update(ctx, ref, func(r runs.Run) (runs.Change, error) {
				change, err := decide(r)
				if err == nil {
					bend(r, &change)
				}
				return change, err
			})
		}}
	}
}

func forgetsKeys(next runs.Store) runs.Store {
	return bent{Store: next,
		create: func(ctx context.Context, run runs.Run, _ string, events []runs.Event,
			allow func(runs.Tally) error) (runs.Run, error) {
			return next.Create(ctx, run, "", events, allow)
		}}
}

// beside makes also runs that are to be alone where others go on.
func beside(next runs.Store) runs.Store {
	return bent{Store: next,
		create: func(ctx context.Context, run runs.Run, key string, events []runs.Event,
			allow func(runs.Tally) error) (runs.Run, error) {
			run.Order.Alone = false
			return next.Create(ctx, run, key, events, allow)
		}}
}

// sharesKeys has keys of all organizations in one list.
func sharesKeys(next runs.Store) runs.Store {
	var mu sync.Mutex
	made := map[string]runs.Ref{}
	return bent{Store: next,
		create: func(ctx context.Context, run runs.Run, key string, events []runs.Event,
			allow func(runs.Tally) error) (runs.Run, error) {
			mu.Lock()
			defer mu.Unlock()
			if ref, ok := made[key]; ok && key != "" {
				return next.Run(ctx, ref)
			}
			made[key] = run.Ref()
			return next.Create(ctx, run, key, events, allow)
		}}
}

// checksThenWrites decides on a run that others may change before the write.
func checksThenWrites(next runs.Store) runs.Store {
	return bent{Store: next, update: func(ctx context.Context, ref runs.Ref, decide runs.Decide) (runs.Run, error) {
		run, err := next.Run(ctx, ref)
		if err != nil {
			return runs.Run{}, err
		}
		change, err := decide(run)
		if err != nil {
			return runs.Run{}, err
		}
		runtime.Gosched()
		return next.Update(ctx, ref, func(runs.Run) (runs.Change, error) { return change, nil })
	}}
}

// dropsUpdates acknowledges every fifth update without recording it.
func dropsUpdates(next runs.Store) runs.Store {
	var calls atomic.Int64
	return bent{Store: next, update: func(ctx context.Context, ref runs.Ref, decide runs.Decide) (runs.Run, error) {
		if calls.Add(1)%5 != 0 {
			return next.Update(ctx, ref, decide)
		}
		run, err := next.Run(ctx, ref)
		if err != nil {
			return runs.Run{}, err
		}
		change, err := decide(run)
		change.Run.Revision++
		return change.Run, err
	}}
}

// recordsTwice records the events in a second transaction.
func recordsTwice(next runs.Store) runs.Store {
	return bent{Store: next, update: func(ctx context.Context, ref runs.Ref, decide runs.Decide) (runs.Run, error) {
		var events []runs.Event
		run, err := next.Update(ctx, ref, func(r runs.Run) (runs.Change, error) {
			change, err := decide(r)
			events, change.Events = change.Events, nil
			return change, err
		})
		if err != nil || len(events) == 0 {
			return run, err
		}
		return next.Update(ctx, ref,
			func(r runs.Run) (runs.Change, error) { return runs.Change{Run: r, Events: events}, nil })
	}}
}

// recordsRefused takes the change that stands beside an error.
func recordsRefused(next runs.Store) runs.Store {
	return bent{Store: next, update: func(ctx context.Context, ref runs.Ref, decide runs.Decide) (runs.Run, error) {
		var refused error
		run, err := next.Update(ctx, ref, func(r runs.Run) (change runs.Change, err error) {
			change, refused = decide(r)
			if refused != nil && change.Run.ID == "" {
				return change, refused
			}
			return change, nil
		})
		return run, cmp.Or(refused, err)
	}}
}

func wrapsErrors(next runs.Store) runs.Store {
	return bent{Store: next, update: func(ctx context.Context, ref runs.Ref, decide runs.Decide) (runs.Run, error) {
		run, err := next.Update(ctx, ref, decide)
		if err != nil {
			err = fmt.Errorf("update: %w", err)
		}
		return run, err
	}}
}

// hidesBlocks lets a run have a slot that is taken: a plan is stored in its place.
func hidesBlocks(next runs.Store) runs.Store {
	return bent{Store: next, update: func(ctx context.Context, ref runs.Ref, decide runs.Decide) (runs.Run, error) {
		run, err := next.Update(ctx, ref, decide)
		if _, blocked := errors.AsType[*runs.BlockedError](err); !blocked {
			return run, err
		}
		if run, err = next.Run(ctx, ref); err != nil {
			return run, err
		}
		change, err := decide(run)
		return change.Run, err
	}}
}

func ignoresContexts(next runs.Store) runs.Store {
	return bent{Store: next, update: func(ctx context.Context, ref runs.Ref, decide runs.Decide) (runs.Run, error) {
		return next.Update(context.WithoutCancel(ctx), ref, decide)
	}}
}

// claims bends what may be claimed.
func claims(bend func(ctx context.Context, next runs.Store, q runs.ClaimQuery,
	refs []runs.Ref) []runs.Ref) func(runs.Store) runs.Store {
	return func(next runs.Store) runs.Store {
		return bent{Store: next, claimable: func(ctx context.Context, q runs.ClaimQuery) ([]runs.Ref, error) {
			refs, err := next.Claimable(ctx, q)
			if err != nil {
				return nil, err
			}
			return bend(ctx, next, q, refs), nil
		}}
	}
}

// byID is a queue that knows no turns.
func byID(ctx context.Context, next runs.Store, q runs.ClaimQuery, _ []runs.Ref) []runs.Ref {
	limit := q.Limit
	q.Limit = 10000
	refs, _ := next.Claimable(ctx, q)
	slices.SortFunc(refs, func(a, b runs.Ref) int { return strings.Compare(a.ID, b.ID) })
	return refs[:min(len(refs), limit)]
}

// wholeLines has all that wait in the lines of the runs that may be claimed.
func wholeLines(ctx context.Context, next runs.Store, q runs.ClaimQuery, refs []runs.Ref) (all []runs.Ref) {
	for _, ref := range refs {
		all = append(all, ref)
		run, err := next.Run(ctx, ref)
		if err != nil || !run.Kind.Mutates() {
			continue
		}
		open, _ := next.Open(ctx, ref.Org, run.Workspace)
		for _, other := range open {
			if other.Status == runs.Pending && other.Kind.Mutates() && other.ID != ref.ID {
				all = append(all, other.Ref())
			}
		}
	}
	return all[:min(len(all), q.Limit)]
}

func ignoresTimes(next runs.Store) runs.Store {
	return bent{Store: next, claimable: func(ctx context.Context, q runs.ClaimQuery) ([]runs.Ref, error) {
		q.Now = q.Now.AddDate(100, 0, 0)
		return next.Claimable(ctx, q)
	}}
}

func ignoresOrganizations(next runs.Store) runs.Store {
	return bent{Store: next, claimable: func(ctx context.Context, q runs.ClaimQuery) ([]runs.Ref, error) {
		q.Orgs = nil
		return next.Claimable(ctx, q)
	}}
}

// filtersPages filters what was cut into pages before, and ends at the first page that is not full.
func filtersPages(next runs.Store) runs.Store {
	return bent{Store: next, list: func(ctx context.Context, q runs.Query) (runs.Page, error) {
		kind := q.Kind
		q.Kind = ""
		page, err := next.List(ctx, q)
		page.Runs = slices.DeleteFunc(page.Runs, func(r runs.Run) bool { return kind != "" && r.Kind != kind })
		if len(page.Runs) < q.Limit {
			page.Next = ""
		}
		return page, err
	}}
}

// skipsOne continues a list behind the run that follows the last one.
func skipsOne(next runs.Store) runs.Store {
	return bent{Store: next, list: func(ctx context.Context, q runs.Query) (runs.Page, error) {
		page, err := next.List(ctx, q)
		if err == nil && page.Next != "" {
			more, _ := next.List(ctx, runs.Query{Org: q.Org, Before: page.Next, Limit: 1})
			if len(more.Runs) == 1 {
				page.Next = more.Runs[0].ID
			}
		}
		return page, err
	}}
}

func countsTwice(next runs.Store) runs.Store {
	return bent{Store: next, tally: func(ctx context.Context, org uuid.UUID) (runs.Tally, error) {
		has, err := next.Tally(ctx, org)
		has.Working += has.Waiting / 3
		return has, err
	}}
}

// keepsChanges tells who follows what it was told before, and skipsChanges leaves out the first.
type keepsChanges struct{ runs.Store }

func (s keepsChanges) Changes(ctx context.Context, org uuid.UUID, after int64, limit int) ([]runs.ChangedRun, error) {
	return s.Store.Changes(ctx, org, max(after-1, 0), limit)
}

type skipsChanges struct{ runs.Store }

func (s skipsChanges) Changes(ctx context.Context, org uuid.UUID, after int64, limit int) ([]runs.ChangedRun, error) {
	found, err := s.Store.Changes(ctx, org, after, limit+1)
	return found[min(len(found), 1):], err
}

// forgetsDays leaves a status out of the counts.
type forgetsDays struct{ runs.Store }

func (s forgetsDays) Outcomes(ctx context.Context, org uuid.UUID, from, to time.Time) ([]runs.Outcome, error) {
	found, err := s.Store.Outcomes(ctx, org, from, to)
	return slices.DeleteFunc(found, func(o runs.Outcome) bool { return o.Status == runs.Discarded }), err
}

// alwaysHasRoom asks nobody whether a run may be made, and askedBefore asks before it is.
func alwaysHasRoom(next runs.Store) runs.Store {
	return bent{Store: next,
		create: func(ctx context.Context, run runs.Run, key string, events []runs.Event, _ func(runs.Tally) error) (runs.Run,
			error) {
			return next.Create(ctx, run, key, events, nil)
		}}
}

func askedBefore(next runs.Store) runs.Store {
	return bent{Store: next,
		create: func(ctx context.Context, run runs.Run, key string, events []runs.Event,
			allow func(runs.Tally) error) (runs.Run, error) {
			if allow != nil {
				has, err := next.Tally(ctx, run.Org)
				if err := errors.Join(err, allow(has)); err != nil {
					return runs.Run{}, err
				}
			}
			time.Sleep(10 * time.Millisecond)
			return next.Create(ctx, run, key, events, nil)
		}}
}

// skipsTwins goes on behind a time, and so leaves out other runs of that time.
func skipsTwins(next runs.Store) runs.Store {
	return bent{Store: next,
		due: func(ctx context.Context, now time.Time, after runs.Mark, limit int) ([]runs.Mark, error) {
			if after.ID != "" {
				after.At = after.At.Add(time.Microsecond)
			}
			return next.Due(ctx, now, after, limit)
		}}
}

// forgetsTheNewest has the oldest runs last.
func forgetsTheNewest(next runs.Store) runs.Store {
	return bent{Store: next, oldest: func(ctx context.Context, org uuid.UUID, limit int) ([]runs.Ref, error) {
		refs, err := next.Oldest(ctx, org, limit)
		slices.Reverse(refs)
		return refs, err
	}}
}

// appendsAnywhere takes pieces wherever the log ends.
func appendsAnywhere(next runs.Store) runs.Store {
	return bent{Store: next,
		appendLog: func(ctx context.Context, log runs.LogRef, _ int64, pieces []runs.LogPiece,
			allow func(runs.Run) error) (int64, error) {
			end, err := next.LogEnd(ctx, log)
			if err != nil || len(pieces) == 0 {
				return 0, err
			}
			pieces[0].Offset = end
			return next.AppendLog(ctx, log, end, pieces, allow)
		}}
}

// keepsReplaced leaves what pieces were to replace where it is, and cuts them where that ends.
func keepsReplaced(next runs.Store) runs.Store {
	return bent{Store: next,
		appendLog: func(ctx context.Context, log runs.LogRef, end int64, pieces []runs.LogPiece,
			allow func(runs.Run) error) (int64, error) {
			var rest []runs.LogPiece
			for _, p := range pieces {
				if over := end - p.Offset; over > 0 && over < p.Size {
					p.Offset, p.Size, p.Sealed = end, p.Size-over, p.Sealed[over:]
				}
				if p.Offset >= end {
					rest = append(rest, p)
				}
			}
			return next.AppendLog(ctx, log, end, rest, allow)
		}}
}

func asksNobody(next runs.Store) runs.Store {
	return bent{
		Store: next,
		appendLog: func(ctx context.Context, log runs.LogRef, end int64, pieces []runs.LogPiece,
			_ func(runs.Run) error) (int64, error) {
			return next.AppendLog(ctx, log, end, pieces, func(runs.Run) error { return nil })
		},
		complete: func(ctx context.Context, file runs.File, upload string, _ func(runs.Run) error) (runs.File, error) {
			return next.CompleteFile(ctx, file, upload, func(runs.Run) error { return nil })
		},
	}
}

// showsHalves makes a file visible with its first piece.
func showsHalves(next runs.Store) runs.Store {
	return bent{Store: next,
		putPiece: func(ctx context.Context, file runs.FileRef, upload string, index int, sealed []byte) error {
			err := next.PutPiece(ctx, file, upload, index, sealed)
			if err == nil && index == 0 {
				_, err = next.CompleteFile(ctx, runs.File{FileRef: file, Pieces: 1}, upload, func(runs.Run) error { return nil })
			}
			return err
		}}
}

// mixesUploads takes all uploads of a file for one.
func mixesUploads(next runs.Store) runs.Store {
	return bent{
		Store: next,
		putPiece: func(ctx context.Context, file runs.FileRef, _ string, index int, sealed []byte) error {
			return next.PutPiece(ctx, file, "one", index, sealed)
		},
		complete: func(ctx context.Context, file runs.File, _ string, allow func(runs.Run) error) (runs.File, error) {
			return next.CompleteFile(ctx, file, "one", allow)
		},
	}
}

// keepsRuns hides a run's log, and says that it is removed.
func keepsRuns(next runs.Store) runs.Store {
	return bent{Store: next, remove: func(ctx context.Context, ref runs.Ref) error {
		return next.Strip(ctx, ref, runs.FileKinds(), []runs.Stream{"plan", "apply"})
	}}
}

func removesBusy(next runs.Store) runs.Store {
	return bent{Store: next, remove: func(ctx context.Context, ref runs.Ref) error {
		_, err := next.Update(ctx, ref, func(r runs.Run) (runs.Change, error) {
			r.Status = runs.Failed
			return runs.Change{Run: r}, nil
		})
		if err != nil {
			return nil
		}
		return next.Remove(ctx, ref)
	}}
}

func eventsFromZero(next runs.Store) runs.Store {
	return bent{Store: next,
		events: func(ctx context.Context, ref runs.Ref, after int64, limit int) ([]runs.Event, error) {
			return next.Events(ctx, ref, max(after-1, 0), limit)
		}}
}

func keepsAgents(next runs.Store) runs.Store {
	return bent{Store: next, removeIdle: func(context.Context, time.Time) error { return nil }}
}

// forgetsLost has no executor for runs whose executor was lost.
func forgetsLost(s runs.Store) runs.Store { return lostForgetter{s} }

type lostForgetter struct{ runs.Store }

func (s lostForgetter) Leased(ctx context.Context, orgs []uuid.UUID, agent string) ([]runs.Run, error) {
	had, err := s.Store.Leased(ctx, orgs, agent)
	return slices.DeleteFunc(had, func(r runs.Run) bool { return r.Status == runs.Orphaned }), err
}
