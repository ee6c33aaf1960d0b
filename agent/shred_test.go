package agent

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestRemoveKept removes what is kept of some runs, and leaves that of others.
func TestRemoveKept(t *testing.T) {
	work := t.TempDir()
	isTheirs := func(run string) (bool, error) { return run == "gone", nil }
	if n, err := RemoveKept(work, isTheirs); n != 0 || err != nil {
		t.Errorf("of nothing: %d, %v", n, err)
	}
	var gone, stays []string
	for _, dir := range []string{keptIn(work), newInitialized(work).root} {
		gone = append(gone, filepath.Join(dir, "gone-plan-1"))
		stays = append(stays, filepath.Join(dir, "stays-plan-1"))
	}
	for _, path := range append(gone, stays...) {
		if err := os.MkdirAll(filepath.Join(path, "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	unknown := errors.New("the store is away")
	if _, err := RemoveKept(work, func(string) (bool, error) { return false, unknown }); !errors.Is(err, unknown) {
		t.Errorf("RemoveKept returned %v", err)
	}
	for _, want := range []int{2, 0} {
		if n, err := RemoveKept(work, isTheirs); n != want || err != nil {
			t.Errorf("%d were removed, %v; want %d", n, err, want)
		}
	}
	for _, path := range gone {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is there", path)
		}
	}
	for _, path := range stays {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}
