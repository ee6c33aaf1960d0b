package folder_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/internal/folder"
)

// Links within a folder are followed; those that lead out, in a circle, nowhere or to what is ignored are named.
func TestReadFollowsLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{"shared.tf": "# s", "mod/main.tf": "# m", "mod/deep/x.tf": "# x",
		".git/config": "secret", "terraform.tfstate": "{}"} {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"mod/linked.tf": "../shared.tf", "modlink": "mod", "loop": ".",
		"mod/up": "..", "dangling": "nowhere", "evil": "/etc/passwd", "git.tf": ".git/config",
		"state.tf": "terraform.tfstate", "dotgit": ".git", "out.tf": "../x"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	files, passed, err := folder.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	sums := map[string]string{}
	for _, f := range files {
		names, sums[f.Path] = append(names, f.Path), f.SHA256
	}
	const want = "mod/deep/x.tf mod/linked.tf mod/main.tf modlink/deep/x.tf modlink/linked.tf modlink/main.tf shared.tf"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if sums["modlink/linked.tf"] != sums["shared.tf"] || sums["modlink/deep/x.tf"] != sums["mod/deep/x.tf"] {
		t.Errorf("%v", sums)
	}
	slices.Sort(passed)
	if got := strings.Join(passed, " "); got != "dangling dotgit evil git.tf loop mod/up modlink/up out.tf state.tf" {
		t.Error(got)
	}
}
