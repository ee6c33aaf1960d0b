package runstest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/killtest"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/runs"
)

// RunDurable holds a store to what survives its process. open opens the store of a directory,
// a new one or one that was used before; the suite closes it. The package's TestMain has to
// call ChildMain.
func RunDurable(t *testing.T, open func(t *testing.T, dir string) runs.Store) {
	t.Run("Reopen", func(t *testing.T) { checkReopen(t, open) })
	t.Run("Kill", func(t *testing.T) {
		suite.Deep(t)
		checkKill(t, open)
	})
}

// checkReopen closes a store, opens it again and finds everything in its place.
func checkReopen(t *testing.T, open func(t *testing.T, dir string) runs.Store) {
	dir := t.TempDir()
	store := open(t, dir)
	l := &ledger{random: rand.New(rand.NewPCG(3, 4)), makers: []*maker{newMaker(), newMaker()}, turns: map[string]int{}}
	l.makers[1].last.Store(1000)
	m := newMaker()
	full := create(t, store, m.full())
	fillRun(t, store, full)
	for range 3 {
		for range 60 {
			l.step(t, store)
		}
		l.compare(t, store)
		suite.Close(t, store)
		store = open(t, dir)
		l.compare(t, store)
		wantRun(t, store, full)
		wantFilled(t, store, full)
		wantEvents(t, store, full.Ref(), 1)
		wantBytes(t, store, m.org, 19)
	}
	suite.Close(t, store)
}

// checkKill kills processes at random while they work on a store. What they were told is
// recorded is there, what they were not told is there whole or not at all, and all that is
// derived from several runs fits them.
func checkKill(t *testing.T, open func(t *testing.T, dir string) runs.Store) {
	dir := t.TempDir()
	suite.Close(t, open(t, dir))
	acked := map[string]told{}
	for round := range uint64(6) {
		events := killtest.Kill[told](t, childDir, dir, 1+round, 15+int(round)*17)
		for _, e := range events {
			was := acked[e.Run]
			acked[e.Run] = told{Run: e.Run, Revision: max(e.Revision, was.Revision), Log: max(e.Log, was.Log), File: e.File ||
				was.File}
		}
		store := open(t, dir)
		wantSurvivors(t, store, acked)
		suite.Close(t, store)
	}
}

// wantSurvivors looks at all that killed children have left.
func wantSurvivors(t *testing.T, store runs.Store, acked map[string]told) {
	t.Helper()
	l := &ledger{random: rand.New(rand.NewPCG(5, 6)), makers: []*maker{{org: childOrg()}}, turns: map[string]int{}}
	q := runs.Query{Org: childOrg(), Limit: 100}
	for {
		page := must[runs.Page](t, "List")(store.List(t.Context(), q))
		l.runs = append(l.runs, page.Runs...)
		if q.Before = page.Next; q.Before == "" {
			break
		}
	}
	kept := int64(0)
	for _, run := range l.runs {
		kept += wantSurvivor(t, store, run, acked[run.ID])
		delete(acked, run.ID)
	}
	for id := range acked {
		t.Errorf("the run %s was acknowledged, and isn't there", id)
	}
	l.compare(t, store)
	if got := bytesOf(t, store, childOrg()); got < kept {
		t.Errorf("%d bytes are counted, and %d are there", got, kept)
	}
	for _, run := range l.runs { // for the rounds to come
		acked[run.ID] = told{Run: run.ID, Revision: run.Revision}
	}
}

// wantSurvivor checks one run, and returns how many bytes it has in logs and complete files.
func wantSurvivor(t *testing.T, store runs.Store, run runs.Run, acked told) (kept int64) {
	t.Helper()
	if run.Revision < acked.Revision {
		t.Errorf("run %s has the revision %d, and %d was acknowledged", run.ID, run.Revision, acked.Revision)
	}
	for _, e := range wantEvents(t, store, run.Ref(), int(run.Revision)) {
		if e.Epoch != e.Sequence {
			t.Errorf("event %d of run %s is of revision %d", e.Sequence, run.ID, e.Epoch)
		}
	}
	end := must[int64](t, "LogEnd")(store.LogEnd(t.Context(), logOf(run)))
	if end < acked.Log {
		t.Errorf("a log ends at %d, and %d was acknowledged", end, acked.Log)
	}
	at := int64(0)
	for _, p := range must[[]runs.LogPiece](t, "ReadLog")(store.ReadLog(t.Context(), logOf(run), 0, 1<<40)) {
		if want := childPiece(run.ID, at); p.Offset != at || !bytes.Equal(p.Sealed, want.Sealed) {
			t.Errorf("the piece at %d of run %s is another one: at %d, %q", at, run.ID, p.Offset, p.Sealed)
		}
		at, kept = at+p.Size, kept+int64(len(p.Sealed))
	}
	if at != end {
		t.Errorf("the pieces of a log end at %d, and it at %d", at, end)
	}
	return kept + wantSurvivingFile(t, store, run, acked)
}

func wantSurvivingFile(t *testing.T, store runs.Store, run runs.Run, acked told) (kept int64) {
	t.Helper()
	files := must[[]runs.File](t, "FilesOf")(store.FilesOf(t.Context(), run.Ref()))
	if acked.File && len(files) == 0 {
		t.Errorf("the file of run %s was acknowledged, and isn't there", run.ID)
	}
	for _, f := range files {
		for i := range f.Pieces {
			want := fmt.Sprint(run.ID, i)
			if got := must[[]byte](t, "Piece")(store.Piece(t.Context(), f.FileRef, i)); string(got) != want {
				t.Errorf("piece %d is %q, want %q", i, got, want)
			}
			kept += int64(len(want))
		}
	}
	return kept
}

// childOrg is the organization that children work in.
func childOrg() uuid.UUID { return uuid.MustParse("6a1e0c1e-3c1b-4f0e-9a52-1f4f3e0c7d11") }
