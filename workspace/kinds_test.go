package workspace_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/workspace"
)

// Files are counted by what their names end with, over all workspaces; what was counted once is not
// read again.
func TestKinds(t *testing.T) {
	w := newWorld(t, workspace.Limits{})
	var newest []workspace.Entry
	for _, name := range []state.Name{"one", "two", "empty"} {
		if _, err := w.Create(w.ctx, w.owner, name, workspace.Defaults()); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"main.tf", "net/a.TF", ".terraform.lock.hcl", "x.tf.json", "README", "a." +
			strings.Repeat("x", 17)} {
			if name == "empty" || name == "two" && path != "main.tf" {
				continue
			}
			if _, err := w.PutFile(w.ctx, w.owner, name, workspace.File{Path: path}, strings.NewReader(string(name)+path),
				nil); err != nil {
				t.Fatal(err)
			}
		}
		of, err := w.Get(w.ctx, w.owner, name)
		if err != nil {
			t.Fatal(err)
		}
		newest = append(newest, of.Newest)
	}
	want := []workspace.FileKind{{Kind: "tf", Files: 3}, {Kind: "other", Files: 2}, {Kind: "lock.hcl", Files: 1},
		{Kind: "tf.json", Files: 1}}
	for range 2 {
		if got, more, err := w.Kinds(w.ctx, w.owner.Org, newest); !slices.Equal(got, want) || more || err != nil {
			t.Errorf("%v, %t, %v", got, more, err)
		}
	}
}
