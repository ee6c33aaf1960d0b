package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/statefile"
)

// Twenty snapshots are kept, also of changes in the same second; the oldest go, with the steps that followed them.
func TestOldSnapshotsGo(t *testing.T) {
	s := newSite(t, things(1))
	folder := filepath.Join(t.TempDir(), "snapshots")
	s.options = func(o *engine.Options) { o.Snapshots = folder }
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	first, err := engine.Snapshots(folder)
	if err != nil || len(first) != 1 {
		t.Fatalf("%+v %v", first, err)
	}
	e, err := s.engine()
	if err != nil {
		t.Fatal(err)
	}
	state := statefile.New()
	for range 22 {
		if err := e.Snapshot(t.Context(), "change", state); err != nil {
			t.Fatal(err)
		}
	}
	all, err := engine.Snapshots(folder)
	if err != nil || len(all) != 20 {
		t.Fatalf("%d snapshots, %v", len(all), err)
	}
	for _, end := range []string{".json", ".steps"} {
		if _, err := os.Stat(filepath.Join(folder, first[0].ID+end)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s%s is still there: %v", first[0].ID, end, err)
		}
	}
}

// A snapshot that can't be read says so; what a process that died has written of a step is as good as not begun.
func TestReplayOfWhatIsDamaged(t *testing.T) {
	s := newSite(t, things(2))
	folder := t.TempDir()
	s.options = func(o *engine.Options) { o.Snapshots = folder }
	if _, err := s.apply(plan.Options{}, apply.Options{Parallelism: 1}); err != nil {
		t.Fatal(err)
	}
	all, err := engine.Snapshots(folder)
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v %v", all, err)
	}
	id := all[0].ID
	path := filepath.Join(folder, id)
	steps, err := os.ReadFile(path + ".steps")
	if err != nil {
		t.Fatal(err)
	}
	put := func(end, text string) {
		t.Helper()
		if err := os.WriteFile(path+end, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(".steps", string(steps[:len(steps)-10]))
	if done, err := engine.Replay(folder, id); err != nil || len(done) != 1 {
		t.Errorf("of a step that is half written: %d steps, %v", len(done), err)
	}
	put(".steps", `{"address":"no address","action":"create"}`+"\n")
	wantStateError(t, func() error { _, err := engine.Replay(folder, id); return err }, "a step of the snapshot")
	put(".json", `{"id":"`+id+`","state":{"version":4}}`)
	wantStateError(t, func() error { _, err := engine.Replay(folder, id); return err }, "the state of the snapshot")
	put(".json", "{")
	wantStateError(t, func() error { _, err := engine.Replay(folder, id); return err }, "can't be read")
	wantStateError(t, func() error { _, err := engine.Snapshots(folder); return err }, "can't be read")
	wantStateError(t, func() error { _, err := engine.ReadSnapshot(folder, "apply-1"); return err },
		"there is no snapshot")
	if _, err := s.apply(plan.Options{Destroy: true}, apply.Options{}); err == nil {
		t.Error("a change is made though its snapshot can't be kept")
	}
	if s.world.Len() != 2 {
		t.Errorf("%d objects are left", s.world.Len())
	}
}

func wantStateError(t *testing.T, do func() error, want string) {
	t.Helper()
	err := do()
	var fault *diag.Error
	if !errors.As(err, &fault) || fault.Category != diag.State || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}
