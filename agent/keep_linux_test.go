package agent

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/holdfast/holdfast/api"
)

// fullDisk is a stage of an apply, on a disk on which there is room for its state once, and the file with that.
func fullDisk(t *testing.T) (s *stage, errored string) {
	t.Helper()
	work := t.TempDir()
	if err := syscall.Mount("tmpfs", work, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("this process may not mount a tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(work, syscall.MNT_DETACH) })
	e := &Executor{settings: Settings{Work: work}, log: slog.New(slog.DiscardHandler)}
	s = &stage{executor: e, folder: filepath.Join(work, "runs", "x", "main"), log: e.log, record: &record{},
		assignment: api.Assignment{Run: "R", Attempt: 1, Stage: stageApply}, cancels: newCancels()}
	if err := os.MkdirAll(s.directory(), 0o700); err != nil {
		t.Fatal(err)
	}
	errored = filepath.Join(s.directory(), erroredState)
	if err := os.WriteFile(errored, []byte(strings.Repeat("s", 700<<10)), 0o600); err != nil {
		t.Fatal(err)
	}
	return s, errored
}

// Scenario: the server does not take the state that a tool could not store, and the disk is full. The folder goes next.
// Check: the state is kept whole, which takes no room of its own.
func TestStateIsKeptOnAFullDisk(t *testing.T) {
	s, errored := fullDisk(t)
	_ = s.keepErrored(errored, nil)
	kept, err := os.ReadFile(filepath.Join(keptIn(s.executor.settings.Work), "R-1-"+erroredState))
	if err != nil || len(kept) != 700<<10 {
		t.Fatalf("%d bytes are kept, %v", len(kept), err)
	}
	if s.stranded {
		t.Error("the folder would stay, though nothing is left in it")
	}
}

// What can't be kept at all stays where it is, and leaves no part of it that looks like a state.
func TestStateThatCannotBeKeptStays(t *testing.T) {
	s, errored := fullDisk(t)
	name := filepath.Join(keptIn(s.executor.settings.Work), "R-1-"+erroredState)
	if err := os.MkdirAll(filepath.Join(name, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.keepErrored(errored, nil); err == nil || !s.stranded {
		t.Errorf("%v, stranded %t", err, s.stranded)
	}
	if info, err := os.Stat(errored); err != nil || info.Size() != 700<<10 {
		t.Errorf("%v, %v", info, err)
	}
}
