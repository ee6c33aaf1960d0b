package resourceindex

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// What a Replace had written before it broke off is of a state that may be purged since.
func TestScrubTakesWhatBrokeOff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "resources.db")
	x := openAt(t, path)
	defer x.Close()
	ctx, cancel := context.WithCancel(t.Context())
	err := x.Replace(ctx, state.Ref{Org: uuid.New(), Name: "a"}, resources.Holding{Version: 1},
		func(yield func(resources.Resource) bool) {
			for n := range 3 * pieceSize {
				if n == 2*pieceSize {
					cancel()
				}
				if !yield(resources.Resource{Place: resources.Place{Address: fmt.Sprint("hunter", n)}}) {
					return
				}
			}
		})
	if err == nil {
		t.Fatal("it did not break off")
	}
	if !has(t, path, "hunter") {
		t.Error("nothing was written: this test shows nothing")
	}
	if err := x.Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	if has(t, path, "hunter") {
		t.Error("it is still in the files")
	}
}

func has(t *testing.T, path, text string) bool {
	t.Helper()
	found := false
	for _, suffix := range []string{"", "-wal"} {
		raw, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		found = found || bytes.Contains(raw, []byte(text))
	}
	return found
}
