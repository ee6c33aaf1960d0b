package sqlruns_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlruns"
	"github.com/holdfast/holdfast/storage/sqlworkspace"
)

// TestAuditBeside: what the audit log is to have of a change is kept with it, and not without it.
func TestAuditBeside(t *testing.T) {
	db, err := sqldb.Open(t.Context(), sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	store, outbox := sqlruns.New(db), sqlworkspace.New(db, nil, time.Now)
	want := func(actions ...audit.Action) {
		t.Helper()
		kept, err := outbox.Undelivered(t.Context(), uuid.Nil, 10)
		if err != nil || len(kept) != len(actions) {
			t.Fatalf("%+v, %v; want %v", kept, err, actions)
		}
		for i, k := range kept {
			if k.Event.Action != actions[i] {
				t.Errorf("%d is %s; want %s", i, k.Event.Action, actions[i])
			}
		}
	}
	run := runs.Run{Org: uuid.New(), ID: "01", Workspace: "prod", Kind: runs.Plan, Status: runs.Pending,
		CreatedAt: time.Unix(1, 0).UTC()}
	entry := func(action audit.Action) []runs.Event {
		return []runs.Event{{At: time.Unix(1, 0), Audit: &audit.Event{Org: run.Org, Action: action}}}
	}
	full := errors.New("full")
	_, err = store.Create(t.Context(), run, "", entry(audit.RunCreate), func(runs.Tally) error { return full })
	if !errors.Is(err, full) {
		t.Fatal(err)
	}
	want()
	if _, err := store.Create(t.Context(), run, "", entry(audit.RunCreate), nil); err != nil {
		t.Fatal(err)
	}
	want(audit.RunCreate)
	_, err = store.Update(t.Context(), run.Ref(), func(r runs.Run) (runs.Change, error) {
		return runs.Change{Run: r, Events: entry(audit.RunDeny)}, full
	})
	if !errors.Is(err, full) {
		t.Fatal(err)
	}
	want(audit.RunCreate)
	if _, err := store.Update(t.Context(), run.Ref(), func(r runs.Run) (runs.Change, error) {
		return runs.Change{Run: r, Events: entry(audit.RunDeny)}, nil
	}); err != nil {
		t.Fatal(err)
	}
	want(audit.RunCreate, audit.RunDeny)
	events, err := store.Events(t.Context(), run.Ref(), 0, 10)
	if err != nil || len(events) != 2 || events[0].Audit != nil {
		t.Errorf("%+v, %v", events, err)
	}
}
