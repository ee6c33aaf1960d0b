package server

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/storage/memory"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlruns"
)

// A run that an executor has begun to apply, between when it was looked at and when it is to be dropped, is told
// nothing: an apply that is interrupted leaves half of its changes.
func TestDropInterruptsNoApply(t *testing.T) {
	t.Parallel()
	db, err := sqldb.Open(t.Context(), sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	log := memory.New(1 << 20)
	defer log.Close()
	store := sqlruns.New(db)
	dropping := pullRuns{service: runs.NewService(runs.Deps{Store: store, Gate: audit.NewGate(log, time.Now), Audit: log,
		Now: time.Now, Log: slog.New(slog.DiscardHandler)})}
	org := uuid.New()
	caller := auth.Principal{Org: org, KeyID: "k", Grant: auth.Grant{Role: auth.Operator}}
	for id, c := range map[string]struct {
		status  runs.Status
		refused bool
		ends    bool // it is over, or told to be
	}{
		"01M00000000000000000000001": {runs.Applying, true, false},
		"01M00000000000000000000002": {runs.Orphaned, true, false},
		"01M00000000000000000000003": {runs.Planning, false, true},
		"01M00000000000000000000004": {runs.Pending, false, true},
		"01M00000000000000000000005": {runs.Succeeded, false, true},
	} {
		run := runs.Run{Org: org, ID: id, Workspace: id, Kind: runs.Apply, Status: c.status, Stage: runs.ApplyStage,
			Attempt: 1, Epoch: 1, CreatedAt: time.Now(), LeaseUntil: time.Now().Add(time.Hour)}
		if c.status.Leased() {
			run.Executor = &runs.Executor{Agent: "x"}
		}
		if _, err := store.Create(context.Background(), run, "", nil, nil); err != nil {
			t.Fatal(err)
		}
		if err := dropping.Drop(t.Context(), caller, id, "it is closed"); fault.Is(err, fault.RunStatus) != c.refused {
			t.Errorf("%s: %v", c.status, err)
		}
		now, err := store.Run(t.Context(), run.Ref())
		if err != nil || (now.Cancel != nil || now.Status.Ended()) != c.ends {
			t.Errorf("a run that is %s was told %+v, and is %s: %v", c.status, now.Cancel, now.Status, err)
		}
	}
}
