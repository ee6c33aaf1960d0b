package sqlitetest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// CountIn returns how often a text stands in the files of a folder, whatever a database makes of
// where it stands: what was destroyed must be nowhere.
func CountIn(t testing.TB, dir, text string) (n int) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		body, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		n += bytes.Count(body, []byte(text))
	}
	return n
}
