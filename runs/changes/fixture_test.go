package changes

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/internal/plantest"
)

var updating = flag.Bool("update", false, "make the files of testdata anew, with the real tools")

// TestUpdate keeps what the tools say of a plan and an apply, for where they are not at hand.
func TestUpdate(t *testing.T) {
	if !*updating {
		t.Skip("without -update the files stay")
	}
	for _, tool := range plantest.Tools(t) {
		folder := changed(t, tool)
		_, show := folder.Plan()
		lines, _ := folder.Try("apply", "-json", "the.plan")
		for name, content := range map[string][]byte{".json": show, ".jsonl": lines} {
			if err := os.WriteFile(filepath.Join("testdata", tool.Name+name), content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestKeptPlans(t *testing.T) {
	for _, tool := range []string{"opentofu", "terraform"} {
		show := fixture(t, tool+".json")
		plan := parse(t, show, Options{Sensitive: []string{"quiet"}})
		if diff := cmp.Diff(Counts{Add: 2, Change: 3, Destroy: 3, Replace: 1, Import: 1, Move: 1, Outputs: 2},
			plan.Counts); diff != "" {
			t.Errorf("%s: %s", tool, diff)
		}
		var redacted bytes.Buffer
		if err := plan.Redact(&redacted, bytes.NewReader(show)); err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"the-Password-of-all", "quiet-but-secret"} {
			if bytes.Contains(redacted.Bytes(), []byte(secret)) || !bytes.Contains(show, []byte(secret)) {
				t.Errorf("%s: %q is redacted wrongly", tool, secret)
			}
		}
		progress := followed(fixture(t, tool+".jsonl"), 100).Progress()
		if progress.Summary == nil || progress.Summary.Add != 2 || progress.Tool != tool ||
			progress.Started != progress.Completed {
			t.Errorf("%s: %+v", tool, progress)
		}
	}
}
