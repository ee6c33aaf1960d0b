package runstest

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/runs"
)

// checkFields stores a run in which everything is set, and wants it back as it was.
func checkFields(t *testing.T, store runs.Store) {
	m := newMaker()
	for _, want := range []runs.Run{m.full(), m.run("w", runs.Plan)} {
		made := create(t, store, want)
		if made.Revision <= 0 {
			t.Errorf("a new run has the revision %d", made.Revision)
		}
		want.Revision = made.Revision
		suite.Equal(t, "Create", want, made)
		wantRun(t, store, want)

		changed := update(t, store, want.Ref(), edited(func(r *runs.Run) {
			suite.Equal(t, "what decide sees", want, *r)
			r.Reason = "changed"
			r.Diagnostics = append(r.Diagnostics, api.Diagnostic{Summary: "more"})
		}))
		want.Reason, want.Revision = "changed", changed.Revision
		want.Diagnostics = append(want.Diagnostics, api.Diagnostic{Summary: "more"})
		suite.Equal(t, "Update", want, changed)
		page := must[runs.Page](t, "List")(store.List(t.Context(), runs.Query{Org: want.Org, Limit: 1}))
		suite.Equal(t, "List", []runs.Run{want}, page.Runs)
	}
}

func checkNotFound(t *testing.T, store runs.Store) {
	m := newMaker()
	there := m.pending(t, store, "w", runs.Plan)
	for _, id := range []string{"", "01J", m.run("w", runs.Plan).ID, strings.ToLower(there.ID), there.ID + " ", there.ID +
		"\x00", "ü", strings.Repeat("x", 10000)} {
		ref := runs.Ref{Org: m.org, ID: id}
		_, err := store.Run(t.Context(), ref)
		suite.Fault(t, "Run", err, fault.RunNotFound)
		_, err = store.Update(t.Context(), ref, func(runs.Run) (runs.Change, error) {
			t.Error("decide was asked about a run that isn't there")
			return runs.Change{}, errors.New("no run")
		})
		suite.Fault(t, "Update", err, fault.RunNotFound)
		if err := store.Remove(t.Context(), ref); err != nil {
			t.Fatalf("Remove of a run that isn't there: %v", err)
		}
	}
	wantRun(t, store, there)
}

func checkKeys(t *testing.T, store runs.Store) {
	m, other := newMaker(), newMaker()
	const key = "key \x00ü"
	first := must[runs.Run](t,
		"Create")(store.Create(t.Context(), m.run("w", runs.Plan), key, []runs.Event{{Type: runs.EventCreated}}, nil))
	now := move(t, store, first, runs.Preparing)
	again := must[runs.Run](t,
		"Create")(store.Create(t.Context(), m.run("w", runs.Plan), key, []runs.Event{{Type: runs.EventCreated}}, nil))
	suite.Equal(t, "Create with a key that was used", now, again)
	wantEvents(t, store, first.Ref(), 2)
	for _, fresh := range []struct {
		run runs.Run
		key string
	}{{m.run("w", runs.Plan), "key"}, {m.run("w", runs.Plan), key + " "}, {other.run("w", runs.Plan), key},
		{m.run("w", runs.Plan), ""}, {m.run("w", runs.Plan), ""}} {
		made := must[runs.Run](t, "Create")(store.Create(t.Context(), fresh.run, fresh.key, nil, nil))
		if made.ID != fresh.run.ID || made.Org != fresh.run.Org {
			t.Errorf("key %q: got the run %s for %s", fresh.key, made.ID, fresh.run.ID)
		}
	}
	page := must[runs.Page](t, "List")(store.List(t.Context(), runs.Query{Org: m.org, Limit: 10}))
	if len(page.Runs) != 5 {
		t.Errorf("%d runs, want 5", len(page.Runs))
	}
}

// checkKeysTogether has several calls with one key race.
func checkKeysTogether(t *testing.T, store runs.Store) {
	m := newMaker()
	made := make([]runs.Run, 8)
	together(len(made), func(i int) {
		var err error
		if made[i], err = store.Create(background(), m.run("w", runs.Plan), "key", nil, nil); err != nil {
			t.Errorf("Create: %v", err)
		}
	})
	for _, run := range made {
		suite.Equal(t, "Create", made[0], run)
	}
	page := must[runs.Page](t, "List")(store.List(t.Context(), runs.Query{Org: m.org, Limit: 10}))
	suite.Equal(t, "List", []runs.Run{made[0]}, page.Runs)
}

// checkAlone has runs be refused that are to be alone in a workspace where another one goes on.
func checkAlone(t *testing.T, store runs.Store) {
	m := newMaker()
	alone := func(workspace string, kind runs.Kind) runs.Run {
		run := m.run(workspace, kind)
		run.Order.Alone = true
		return run
	}
	m.pending(t, store, "w", runs.Drift)
	first := must[runs.Run](t, "Create")(store.Create(t.Context(), alone("w", runs.Plan), "key", nil, nil))
	_, err := store.Create(t.Context(), alone("w", runs.Apply), "", nil, nil)
	if !fault.Is(err, fault.RunInProgress) {
		t.Errorf("Create beside %s: %v, want %s", first.ID, err, fault.RunInProgress)
	}
	suite.Equal(t, "Create with a key that was used", first.ID,
		must[runs.Run](t, "Create")(store.Create(t.Context(), alone("w", runs.Plan), "key", nil, nil)).ID)
	must[runs.Run](t, "Create")(store.Create(t.Context(), alone("v", runs.Plan), "", nil, nil))
	m.pending(t, store, "w", runs.Plan)
	other := newMaker().run("w", runs.Plan)
	other.Order.Alone = true
	must[runs.Run](t, "Create")(store.Create(t.Context(), other, "", nil, nil))
}

// checkAloneTogether has several such runs race: one of them is made.
func checkAloneTogether(t *testing.T, store runs.Store) {
	m := newMaker()
	var made, refused atomic.Int32
	together(8, func(int) {
		run := m.run("w", runs.Apply)
		run.Order.Alone = true
		switch _, err := store.Create(background(), run, "", nil, nil); {
		case err == nil:
			made.Add(1)
		case fault.Is(err, fault.RunInProgress):
			refused.Add(1)
		default:
			t.Errorf("Create: %v", err)
		}
	})
	if made.Load() != 1 || refused.Load() != 7 {
		t.Errorf("%d made and %d refused, want 1 and 7", made.Load(), refused.Load())
	}
}

// checkSameID makes a run with an ID that there is: the first one stays as it is.
func checkSameID(t *testing.T, store runs.Store) {
	m := newMaker()
	first := m.pending(t, store, "w", runs.Plan)
	twin := first
	twin.Workspace = "v"
	if _, err := store.Create(t.Context(), twin, "", nil, nil); err == nil {
		t.Error("a second run with the same ID was made")
	}
	wantRun(t, store, first)
	wantEvents(t, store, first.Ref(), 1)
}

func checkRevisions(t *testing.T, store runs.Store) {
	run := newMaker().pending(t, store, "w", runs.Plan)
	same := func(r runs.Run) (runs.Change, error) { return runs.Change{Run: r}, nil }
	suite.Equal(t, "an Update that changes nothing", run, update(t, store, run.Ref(), same))
	wantEvents(t, store, run.Ref(), 1)

	silent := update(t, store, run.Ref(), func(r runs.Run) (runs.Change, error) {
		r.Reason, r.Revision = "other", 99 // which is the store's
		return runs.Change{Run: r}, nil
	})
	if silent.Revision != run.Revision+1 || silent.Reason != "other" {
		t.Errorf("revision %d and reason %q, want %d and other", silent.Revision, silent.Reason, run.Revision+1)
	}
	wantEvents(t, store, run.Ref(), 1)

	noted := update(t, store, run.Ref(), func(r runs.Run) (runs.Change, error) {
		return runs.Change{Run: r, Events: []runs.Event{{Type: runs.EventPhase}, {Type: runs.EventLost}}}, nil
	})
	if noted.Revision != silent.Revision+1 {
		t.Errorf("revision %d after events, want %d", noted.Revision, silent.Revision+1)
	}
	wantEvents(t, store, run.Ref(), 3)
}

func checkDecideError(t *testing.T, store runs.Store) {
	run := newMaker().pending(t, store, "w", runs.Apply)
	refusal := errors.New("no")
	_, err := store.Update(t.Context(), run.Ref(), func(r runs.Run) (runs.Change, error) {
		r.Status = runs.Succeeded
		return runs.Change{Run: r, Events: []runs.Event{{Type: runs.EventEnded}}}, refusal
	})
	if err != refusal {
		t.Errorf("error %v, want decide's own", err)
	}
	wantRun(t, store, run)
	wantEvents(t, store, run.Ref(), 1)
	suite.Equal(t, "Claimable", []string{run.ID}, claimable(t, store, runs.ClaimQuery{Orgs: []uuid.UUID{run.Org}}))
}

func checkEvents(t *testing.T, store runs.Store) {
	m := newMaker()
	run := m.run("w", runs.Plan)
	want := []runs.Event{
		{At: moment(), Type: runs.EventCreated, To: runs.Pending,
			By: runs.Actor{KeyID: "key", KeyName: "name", Subject: "ann", Role: auth.Owner, Request: "r"}, Note: "über <all>"},
		{At: later(1), Type: runs.EventClaimed, From: runs.Pending, To: runs.Preparing, Epoch: 1 << 40},
		{At: later(0), Type: runs.EventPhase}, // clocks go back
		{At: later(2), Type: runs.EventEnded},
	}
	must[runs.Run](t, "Create")(store.Create(t.Context(), run, "", want[:1], nil))
	update(t, store, run.Ref(),
		func(r runs.Run) (runs.Change, error) { return runs.Change{Run: r, Events: want[1:3]}, nil })
	update(t, store, run.Ref(),
		func(r runs.Run) (runs.Change, error) { return runs.Change{Run: r, Events: want[3:]}, nil })
	for i := range want {
		want[i].Sequence = int64(i + 1)
	}
	suite.Equal(t, "Events", want, wantEvents(t, store, run.Ref(), 4))
	for after := range want {
		for limit := 1; limit <= len(want); limit++ {
			got := must[[]runs.Event](t, "Events")(store.Events(t.Context(), run.Ref(), int64(after), limit))
			suite.Equal(t, "a part of Events", want[after:min(after+limit, len(want))], got)
		}
	}
	got := must[[]runs.Event](t, "Events")(store.Events(t.Context(), run.Ref(), 4, 5))
	if len(got) != 0 {
		t.Errorf("%d events behind the last", len(got))
	}
}

// checkEventsAtomic refuses updates for what can't be kept of their last event: nothing of them
// is recorded.
func checkEventsAtomic(t *testing.T, store runs.Store) {
	m := newMaker()
	run := m.pending(t, store, "w", runs.Apply)
	events := []runs.Event{{Type: runs.EventPhase}, {Type: runs.EventPhase, Note: strings.Repeat("x", 4<<20)}}
	_, err := store.Update(t.Context(), run.Ref(), func(r runs.Run) (runs.Change, error) {
		r.Status = runs.Preparing
		return runs.Change{Run: r, Events: events}, nil
	})
	if err == nil {
		t.Fatal("an event of 4 MiB was stored; the suite needs one that can't be")
	}
	wantRun(t, store, run)
	wantEvents(t, store, run.Ref(), 1)
	suite.Equal(t, "Claimable", []string{run.ID}, claimable(t, store, runs.ClaimQuery{Orgs: []uuid.UUID{m.org}}))

	none := m.run("w", runs.Plan)
	if _, err := store.Create(t.Context(), none, "key", events, nil); err == nil {
		t.Fatal("Create with an event of 4 MiB succeeded")
	}
	_, err = store.Run(t.Context(), none.Ref())
	suite.Fault(t, "Run", err, fault.RunNotFound)
	made := must[runs.Run](t, "Create")(store.Create(t.Context(), none, "key", nil, nil))
	wantEvents(t, store, made.Ref(), 0)
}

// checkUpdatesTogether counts in one run from many goroutines: no count is lost, and each event
// is of the revision that it was decided on.
func checkUpdatesTogether(t *testing.T, store runs.Store) {
	run := newMaker().pending(t, store, "w", runs.Plan)
	const workers, each = 6, 8
	var clashes atomic.Int64
	together(workers, func(int) {
		for range each {
			_, err := store.Update(background(), run.Ref(), func(r runs.Run) (runs.Change, error) {
				r.Epoch++
				return runs.Change{Run: r, Events: []runs.Event{{Type: runs.EventPhase, Epoch: r.Epoch}}}, nil
			})
			if err != nil {
				clashes.Add(1)
				t.Errorf("Update: %v", err)
			}
		}
	})
	got := must[runs.Run](t, "Run")(store.Run(t.Context(), run.Ref()))
	if got.Epoch != workers*each || got.Revision != run.Revision+workers*each {
		t.Errorf("epoch %d and revision %d after %d updates of revision %d", got.Epoch, got.Revision, workers*each,
			run.Revision)
	}
	for i, e := range wantEvents(t, store, run.Ref(), 1+workers*each)[1:] {
		if e.Epoch != int64(i+1) {
			t.Fatalf("event %d is of the epoch %d", i+2, e.Epoch)
		}
	}
}

// checkIsolation has two organizations with runs of the same ID, workspace and key.
func checkIsolation(t *testing.T, store runs.Store) {
	m, n := newMaker(), newMaker()
	mine := must[runs.Run](t,
		"Create")(store.Create(t.Context(), m.run("w", runs.Apply), "key",
		[]runs.Event{{Type: runs.EventCreated, Note: "mine"}}, nil))
	_, err := store.Run(t.Context(), runs.Ref{Org: n.org, ID: mine.ID})
	suite.Fault(t, "Run of another organization", err, fault.RunNotFound)
	_, err = store.Update(t.Context(), runs.Ref{Org: n.org, ID: mine.ID}, become(runs.Cancelled))
	suite.Fault(t, "Update of another organization's", err, fault.RunNotFound)

	theirs := must[runs.Run](t, "Create")(store.Create(t.Context(), n.run("w", runs.Apply), "key", nil, nil))
	if theirs.ID != mine.ID {
		t.Fatalf("the runs %s and %s, want equal IDs", theirs.ID, mine.ID)
	}
	fillRun(t, store, theirs)
	theirs = move(t, store, theirs, runs.Preparing) // doesn't block mine
	wantRun(t, store, mine)
	wantUntouched(t, store, mine)
	theirs = move(t, store, theirs, runs.Failed)
	if err := store.Remove(t.Context(), theirs.Ref()); err != nil {
		t.Fatalf("Remove: %v", err)
	}
	wantRun(t, store, mine)
	wantUntouched(t, store, mine)
}

// fillRun gives a run a log and a file.
func fillRun(t *testing.T, store runs.Store, run runs.Run) {
	t.Helper()
	appendLog(t, store, logOf(run), "theirs")
	putFile(t, store, fileOf(run, runs.FilePlan), "theirs")
}

// wantUntouched wants a new apply run that is alone in its organization.
func wantUntouched(t *testing.T, store runs.Store, run runs.Run) {
	t.Helper()
	ctx := t.Context()
	wantEvents(t, store, run.Ref(), 1)
	suite.Equal(t, "Claimable", []string{run.ID}, claimable(t, store, runs.ClaimQuery{Orgs: []uuid.UUID{run.Org}}))
	suite.Equal(t, "Open", []runs.Run{run}, must[[]runs.Run](t, "Open")(store.Open(ctx, run.Org, "w")))
	page := must[runs.Page](t, "List")(store.List(ctx, runs.Query{Org: run.Org, Limit: 5}))
	suite.Equal(t, "List", []runs.Run{run}, page.Runs)
	suite.Equal(t, "Tally", runs.Tally{Waiting: 1, Stored: 1}, must[runs.Tally](t, "Tally")(store.Tally(ctx, run.Org)))
	_, holder, err := store.Position(ctx, run)
	if holder != "" || err != nil {
		t.Errorf("Position: holder %q, %v", holder, err)
	}
	if logs := must[[]runs.LogInfo](t, "LogsOf")(store.LogsOf(ctx, run.Ref())); len(logs) > 0 {
		t.Errorf("it has the logs %v", logs)
	}
	if files := must[[]runs.File](t, "FilesOf")(store.FilesOf(ctx, run.Ref())); len(files) > 0 {
		t.Errorf("it has the files %v", files)
	}
	wantBytes(t, store, run.Org, 0)
}

func checkEndedContext(t *testing.T, store runs.Store) {
	m := newMaker()
	run := m.pending(t, store, "w", runs.Plan)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	none := m.run("w", runs.Plan)
	_, errCreate := store.Create(ctx, none, "", nil, nil)
	_, errUpdate := store.Update(ctx, run.Ref(), become(runs.Failed))
	_, errAppend := store.AppendLog(ctx, logOf(run), 0, []runs.LogPiece{piece(0, "x")}, allowAll)
	for what, err := range map[string]error{"Create": errCreate, "Update": errUpdate, "AppendLog": errAppend} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s in an ended context: %v", what, err)
		}
	}
	_, err := store.Run(t.Context(), none.Ref())
	suite.Fault(t, "Run", err, fault.RunNotFound)
	wantRun(t, store, run)
}

// checkTooLarge refuses a run that is larger than a row takes.
func checkTooLarge(t *testing.T, store runs.Store) {
	m := newMaker()
	run := m.pending(t, store, "w", runs.Plan)
	_, err := store.Update(t.Context(), run.Ref(), edited(func(r *runs.Run) { r.Reason = strings.Repeat("x", 2<<20) }))
	suite.Fault(t, "Update to 2 MiB", err, fault.BodyTooLarge)
	wantRun(t, store, run)
	wantEvents(t, store, run.Ref(), 1)
}
