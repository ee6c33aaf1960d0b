package durable

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestRemoveLeft: what is left of a CreateNew that was killed goes, also where it was killed behind the link; nothing
// else does.
func TestRemoveLeft(t *testing.T) {
	path := writeFile(t, "the key")
	folder, old := filepath.Dir(path), time.Now().Add(-time.Hour)
	must(t, os.Link(path, beside(path, rand.Text())))
	must(t, os.WriteFile(beside(path, rand.Text()), []byte("another key"), 0o600))
	must(t, os.Chtimes(path, old, old))
	for _, name := range []string{".auth.cfg.new", ".auth.cfg.lock", ".other." + rand.Text(), "auth.cfg." + rand.Text()} {
		must(t, os.WriteFile(filepath.Join(folder, name), nil, 0o600))
		must(t, os.Chtimes(filepath.Join(folder, name), old, old))
	}
	for _, want := range []int{1, 1, 0} { // the second file is as young as that of a call that goes on
		removed, err := RemoveLeft(path, time.Now())
		must(t, err)
		if removed != want {
			t.Errorf("%d files were removed, want %d: %s", removed, want, names(t, folder))
		}
		for _, left := range globbed(t, filepath.Join(folder, ".auth.cfg.??????????????????????????")) {
			must(t, os.Chtimes(left, old, old))
		}
	}
	if all := globbed(t, filepath.Join(folder, "*")); len(all) != 5 {
		t.Errorf("left are %v", all)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "the key" {
		t.Errorf("the file is %q, %v", text, err)
	}
	if _, err := RemoveLeft(filepath.Join(folder, "absent", "file"), time.Now()); err != nil {
		t.Errorf("in no folder: %v", err)
	}
}

func globbed(t *testing.T, pattern string) []string {
	t.Helper()
	all, err := filepath.Glob(pattern)
	must(t, err)
	return all
}
