package agent

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
)

// erring is a stage of an apply in prod, which an executor before has left.
func erring(t *testing.T) *stage {
	t.Helper()
	e := &Executor{settings: Settings{Work: t.TempDir()}, log: slog.New(slog.DiscardHandler)}
	a := api.Assignment{Run: "R", Attempt: 1, Stage: stageApply, Directory: "prod"}
	folder := filepath.Join(e.settings.Work, "runs", "x", "main")
	s := &stage{executor: e, folder: folder, log: e.log, assignment: a, cancels: newCancels()}
	if err := os.MkdirAll(s.directory(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := newRecord(a, "k", time.Now()).save(folder); err != nil {
		t.Fatal(err)
	}
	r, err := readRecord(folder)
	if err != nil {
		t.Fatal(err)
	}
	return &stage{executor: e, folder: folder, log: e.log, record: r, assignment: r.assignment(), cancels: newCancels()}
}

// leaves writes what is said into a file of the run's folder.
func (s *stage) leaves(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(s.folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// keptState is what is kept of the stage's state.
func (s *stage) keptState() string {
	text, _ := os.ReadFile(filepath.Join(keptIn(s.executor.settings.Work), "R-1-"+erroredState))
	return string(text)
}

// A file of the configuration that is called so is not taken for the state that the tool could not store.
func TestErroredStateIsThatOfTheTool(t *testing.T) {
	t.Parallel()
	s := erring(t)
	s.leaves(t, filepath.Join("config", "dev", erroredState), "somebody's")
	s.leaves(t, filepath.Join("config", "prod", erroredState), "the tool's")
	if s.keepWhatErrored(); s.keptState() != "the tool's" {
		t.Errorf("what is kept is %q", s.keptState())
	}
}

// An executor that dies while it moves a state has the next one find it where it was by then.
func TestErroredStateThatWasBeingMoved(t *testing.T) {
	t.Parallel()
	s := erring(t)
	path := s.leaves(t, erroredState, "the tool's")
	if got := s.errored(); got != path {
		t.Errorf("it is found at %q", got)
	}
	if s.keepWhatErrored(); s.keptState() != "the tool's" {
		t.Errorf("what is kept is %q", s.keptState())
	}
}

// A state that is moved is as young as one that is copied: it is not among those that were kept for too long.
func TestMovedStateIsYoung(t *testing.T) {
	t.Parallel()
	s := erring(t)
	path := s.leaves(t, filepath.Join("config", "prod", erroredState), "the tool's")
	old := time.Now().Add(-2 * keepKept)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(keptIn(s.executor.settings.Work), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.move(path, "R-1-"+erroredState); err != nil {
		t.Fatal(err)
	}
	if err := s.executor.sweepKept(); err != nil || s.keptState() != "the tool's" {
		t.Errorf("%q is kept, %v", s.keptState(), err)
	}
}

// Vulnerability: what stays on the executor's disk is bounded by nothing.
// Scenario: an apply leaves a link, a folder, or what is behind a link, in the place of a state, and no server takes
// it.
// Check: that is no state, and the run's folder goes.
func TestWhatIsNoStateStrandsNoFolder(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(path string) error{
		"a link":   func(path string) error { return os.Symlink("/etc/passwd", path) },
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"a loop":   func(path string) error { return os.Symlink(path, path) },
		"a link on the way": func(path string) error {
			if err := os.Remove(filepath.Dir(path)); err != nil {
				return err
			}
			return os.Symlink("/etc", filepath.Dir(path))
		},
	} {
		s := erring(t)
		path := filepath.Join(s.folder, "config", "prod", erroredState)
		if err := put(path); err != nil {
			t.Fatal(err)
		}
		if err := s.keepErrored(path, nil); err == nil || s.stranded {
			t.Errorf("%s: %v, stranded %t", name, err, s.stranded)
		}
	}
}
