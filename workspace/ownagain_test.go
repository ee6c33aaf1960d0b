package workspace_test

import (
	"slices"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/workspace"
)

// TestPushAgain: a push whose answer was lost is sent once more, and has made one snapshot, whatever the key is for.
func TestPushAgain(t *testing.T) {
	w := made(t, workspace.Limits{})
	p := w.narrow("a")
	w.send(p, "one", "two")
	files := []workspace.File{{Path: "one.tf", Digest: sumOf("one")}, {Path: "two.tf", Digest: sumOf("two")}}
	parent := int64(0)
	for range 2 {
		e, err := w.Push(w.ctx, p, "a", slices.Clone(files), "", &parent)
		wantCode(t, "push", err, "")
		if e.Number != 1 {
			t.Errorf("it made snapshot %d", e.Number)
		}
	}
	w.send(p, "three")
	files[0].Digest = sumOf("three")
	_, err := w.Push(w.ctx, p, "a", files, "", &parent)
	wantCode(t, "another push on the same parent", err, fault.SnapshotMoved)
}
