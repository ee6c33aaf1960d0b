package runstest

import (
	"strings"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/runs"
)

// checkRemove removes a run with everything, and keeps one that goes on.
func checkRemove(t *testing.T, store runs.Store) {
	m := newMaker()
	run := must[runs.Run](t,
		"Create")(store.Create(t.Context(), m.run("w", runs.Plan), "key", []runs.Event{{Type: runs.EventCreated}}, nil))
	stays := m.ended(t, store)
	fillRun(t, store, stays)
	fillRun(t, store, run)
	putPieces(t, store, fileOf(run, runs.FileOutputs), "left", "over")
	before := bytesOf(t, store, m.org)
	if err := store.Remove(t.Context(), run.Ref()); err == nil {
		t.Error("a run that has not ended was removed")
	}
	if err := store.Strip(t.Context(), run.Ref(), []runs.FileKind{runs.FilePlan}, []runs.Stream{"plan"}); err == nil {
		t.Error("a run that has not ended was stripped")
	}
	wantRun(t, store, run)
	wantBytes(t, store, m.org, before)
	wantFilled(t, store, run)

	run = move(t, store, run, runs.Failed)
	for range 2 { // it may be repeated
		if err := store.Remove(t.Context(), run.Ref()); err != nil {
			t.Fatalf("Remove: %v", err)
		}
		wantGone(t, store, run)
	}
	wantBytes(t, store, m.org, int64(len("sealed:theirs")+len("theirs"))) // the other run's
	wantRun(t, store, stays)
	wantFilled(t, store, stays)

	// The key is free again, and a new run with the old ID finds nothing.
	again := m.run("w", runs.Plan)
	again.ID = run.ID
	made := must[runs.Run](t,
		"Create")(store.Create(t.Context(), again, "key", []runs.Event{{Type: runs.EventCreated}}, nil))
	wantEvents(t, store, made.Ref(), 1)
	wantLog(t, store, logOf(made), appendLog(t, store, logOf(made), "new"))
	wantNoFile(t, store, fileOf(made, runs.FilePlan))
	file := runs.File{FileRef: fileOf(made, runs.FileOutputs), Pieces: 2}
	if _, err := store.CompleteFile(t.Context(), file, "u", allowAll); err == nil {
		t.Error("pieces of the removed run are there still")
	}
}

// wantFilled wants what fillRun has stored.
func wantFilled(t *testing.T, store runs.Store, run runs.Run) {
	t.Helper()
	wantLog(t, store, logOf(run), piece(0, "theirs"))
	wantFile(t, store, runs.File{FileRef: fileOf(run, runs.FilePlan), Size: 6, Digest: digestOf("theirs"), Pieces: 1},
		"theirs")
}

func wantGone(t *testing.T, store runs.Store, run runs.Run) {
	t.Helper()
	ctx := t.Context()
	_, err := store.Run(ctx, run.Ref())
	suite.Fault(t, "Run", err, fault.RunNotFound)
	wantNoFile(t, store, fileOf(run, runs.FilePlan))
	wantLog(t, store, logOf(run))
	if end := must[int64](t, "LogEnd")(store.LogEnd(ctx, logOf(run))); end != 0 {
		t.Errorf("its log ends at %d", end)
	}
	if events, _ := store.Events(ctx, run.Ref(), 0, 100); len(events) > 0 {
		t.Errorf("%d of its events are there", len(events))
	}
	page := must[runs.Page](t, "List")(store.List(ctx, runs.Query{Org: run.Org, Limit: 100}))
	for _, r := range page.Runs {
		if r.ID == run.ID {
			t.Error("it is listed still")
		}
	}
}

// checkRemoveLarge removes a run that has more than what fits one transaction.
func checkRemoveLarge(t *testing.T, store runs.Store) {
	m := newMaker()
	run := m.pending(t, store, "w", runs.Plan)
	text := strings.Repeat("x", 1<<10)
	for range 70 {
		appendLog(t, store, logOf(run), text)
	}
	var pieces []string
	for range 40 {
		pieces = append(pieces, text)
	}
	putFile(t, store, fileOf(run, runs.FilePlan), pieces...)
	putPieces(t, store, fileOf(run, runs.FileOutputs), pieces...)
	run = move(t, store, run, runs.Failed)
	if err := store.Remove(t.Context(), run.Ref()); err != nil {
		t.Fatalf("Remove: %v", err)
	}
	wantGone(t, store, run)
	wantBytes(t, store, m.org, 0)
}

// checkStrip removes some of a run's files and logs.
func checkStrip(t *testing.T, store runs.Store) {
	m := newMaker()
	run, other := m.pending(t, store, "w", runs.Plan), m.ended(t, store)
	fillRun(t, store, run)
	fillRun(t, store, other)
	apply := logOf(run)
	apply.Stream = "apply"
	kept := appendLog(t, store, apply, "apply")
	lock := putFile(t, store, fileOf(run, runs.FileLock), "lock")
	putPieces(t, store, fileOf(run, runs.FileOutputs), "left")
	run = move(t, store, run, runs.Succeeded)
	for range 2 {
		err := store.Strip(t.Context(), run.Ref(), []runs.FileKind{runs.FilePlan, runs.FileOutputs}, []runs.Stream{"plan"})
		if err != nil {
			t.Fatalf("Strip: %v", err)
		}
		wantNoFile(t, store, fileOf(run, runs.FilePlan))
		wantLog(t, store, logOf(run))
		wantLog(t, store, apply, kept)
		wantFile(t, store, lock, "lock")
		wantFilled(t, store, other)
		wantRun(t, store, run)
		wantEvents(t, store, run.Ref(), 2)
	}
	wantBytes(t, store, m.org, int64(len("sealed:apply")+len("lock")+len("sealed:theirs")+len("theirs")))
	if err := store.Strip(t.Context(), m.run("w", runs.Plan).Ref(), nil, nil); err != nil {
		t.Errorf("Strip of a run that isn't there: %v", err)
	}
}
