package sqlruns

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlworkspace"
)

// Create implements runs.Store.
func (s *Store) Create(ctx context.Context, run runs.Run, key string, events []runs.Event,
	allow func(runs.Tally) error) (made runs.Run, err error) {
	err = s.write(ctx, run.Ref(), 0, func(t tx) error {
		was, there, err := t.madeBy(run, key)
		if err != nil || there {
			made = was
			return err
		}
		if err := t.hasRoom(allow); err != nil {
			return err
		}
		if err := t.isAlone(run); err != nil {
			return err
		}
		made, err = t.create(run, key, events)
		return err
	})
	if err != nil {
		return runs.Run{}, err
	}
	return made, nil
}

// hasRoom asks whether the organization may have another run.
func (t tx) hasRoom(allow func(runs.Tally) error) error {
	if allow == nil {
		return nil
	}
	has, err := tallyOf(t, t.org)
	if err != nil {
		return err
	}
	if err := allow(has); err != nil {
		return refusal{err}
	}
	return nil
}

// isAlone refuses a run that is to be alone where another one of its workspace goes on.
func (t tx) isAlone(run runs.Run) error {
	if !run.Order.Alone {
		return nil
	}
	open, err := sqldb.All(t, scanRow, "SELECT "+columns+" FROM runs WHERE org = ? AND open = ? ORDER BY id", t.org,
		run.Workspace)
	if err != nil {
		return err
	}
	for _, other := range open {
		if other.run.InTheWay() {
			return refusal{other.run.InProgress()}
		}
	}
	return nil
}

// madeBy returns the run that was made with a key.
func (t tx) madeBy(run runs.Run, key string) (was runs.Run, there bool, err error) {
	if key == "" {
		return runs.Run{}, false, nil
	}
	found, err := sqldb.All(t, scanRow, "SELECT "+columns+" FROM runs WHERE org = ? AND made_by = ?", t.org, keyOf(key))
	if err != nil || len(found) == 0 {
		return runs.Run{}, false, err
	}
	return found[0].run, true, nil
}

func (t tx) create(run runs.Run, key string, events []runs.Event) (runs.Run, error) {
	next, err := rowOf(run, 1, int64(len(events)))
	if err != nil {
		return runs.Run{}, err
	}
	step, err := t.begin(runs.Run{}, next.run)
	if err != nil {
		return runs.Run{}, err
	}
	names := append([]string{"org", "id", "made_by"}, derived()...)
	values := append([]any{t.org, run.ID, keyOf(key)}, next.values()...)
	if err := t.exec("INSERT INTO runs ("+strings.Join(names, ", ")+") VALUES ("+sqldb.Places(len(names))+")",
		values...); err != nil {
		return runs.Run{}, err
	}
	if err := t.record(run.ID, 0, events); err != nil {
		return runs.Run{}, err
	}
	if err := t.finish(step); err != nil {
		return runs.Run{}, err
	}
	return next.run, t.moved(run.ID)
}

// Update implements runs.Store.
func (s *Store) Update(ctx context.Context, ref runs.Ref, decide runs.Decide) (after runs.Run, err error) {
	err = s.write(ctx, ref, 0, func(t tx) error {
		was, err := load(t, ref)
		if err != nil {
			return err
		}
		change, err := decide(was.run)
		if err != nil {
			return refusal{err}
		}
		after, err = t.update(was, change)
		return err
	})
	if err != nil {
		return runs.Run{}, err
	}
	return after, nil
}

func (t tx) update(was row, change runs.Change) (runs.Run, error) {
	if err := checkIdentity(was.run, change.Run); err != nil {
		return runs.Run{}, err
	}
	next, err := rowOf(change.Run, was.run.Revision+1, was.events+int64(len(change.Events)))
	if err != nil {
		return runs.Run{}, err
	}
	if len(change.Events) == 0 && next.same(was) {
		// Not what decide was given: it may have changed that in place.
		return was.run, was.decode(was.run.Revision)
	}
	step, err := t.begin(was.run, next.run)
	if err != nil {
		return runs.Run{}, err
	}
	values := append(next.values(), t.org, was.run.ID, was.run.Revision)
	found, err := sqldb.Change(t, "UPDATE runs SET "+strings.Join(derived(), " = ?, ")+
		" = ? WHERE org = ? AND id = ? AND revision = ?", values...)
	if err != nil {
		return runs.Run{}, err
	}
	if !found {
		return runs.Run{}, fault.New(fault.StoreUnavailable, "the run was changed meanwhile; try again")
	}
	if err := t.record(was.run.ID, was.events, change.Events); err != nil {
		return runs.Run{}, err
	}
	if err := t.finish(step); err != nil || !moves(was.run, change) {
		return next.run, err
	}
	return next.run, t.moved(was.run.ID)
}

// checkIdentity refuses decisions about what a run is for ever.
func checkIdentity(was, next runs.Run) error {
	if was.Ref() != next.Ref() || was.Workspace != next.Workspace || was.Kind != next.Kind {
		return fmt.Errorf("sqlruns: a decision makes run %s of %s another one", was.ID, was.Workspace)
	}
	return nil
}

// record adds events behind the last one.
func (t tx) record(id string, last int64, events []runs.Event) error {
	for i, event := range events {
		event.Sequence = last + int64(i) + 1
		body, err := json.Marshal(event)
		if err != nil {
			return err
		}
		if len(body) > sqldb.MaxRow {
			return fault.New(fault.BodyTooLarge, "an event of the run takes %d bytes; the store keeps at most %d", len(body),
				sqldb.MaxRow)
		}
		if err := t.exec("INSERT INTO run_events (org, run, sequence, body) VALUES (?, ?, ?, ?)", t.org, id, event.Sequence,
			body); err != nil {
			return err
		}
		if err := sqlworkspace.AddEvent(t, event.Audit); err != nil {
			return err
		}
	}
	return nil
}
