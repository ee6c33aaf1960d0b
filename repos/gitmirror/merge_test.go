package gitmirror_test

import (
	"context"
	"testing"

	"github.com/holdfast/holdfast/repos/gitmirror"
)

// A merge has what both sides have, also within one file, whatever the attributes of the repository ask for; and it is
// the same commit for whoever makes it.
func TestMerge(t *testing.T) {
	w := newWorld(t, gitmirror.Limits{})
	w.source.Branches = []string{"*"}
	w.repo.Write("main.tf", "a\n\n\n\nb\n\n\n\nc\n")
	w.repo.Write(".gitattributes", "* merge=evil -text\n")
	begin := w.repo.Commit("Begin")
	w.repo.Switch("pr")
	w.repo.Write("main.tf", "a, changed\n\n\n\nb\n\n\n\nc\n")
	w.repo.Write("head.tf", "h")
	head := w.repo.Commit("Change")
	w.repo.Git("switch", "--quiet", "main")
	w.repo.Write("main.tf", "a\n\n\n\nb\n\n\n\nc, changed\n")
	w.repo.Write("base.tf", "b")
	base := w.repo.Commit("Go on")
	w.repo.Write("more.tf", "b")
	more := w.repo.Commit("Go on further")
	w.fetch()
	merge := func(m *gitmirror.Mirror, into, from string) gitmirror.Merged {
		t.Helper()
		merged, err := m.Merge(t.Context(), into, from)
		must(t, err)
		return merged
	}
	merged := merge(w.mirror, base, head)
	if merged.Conflict != "" || !gitmirror.IsCommit(merged.Commit) {
		t.Fatalf("%+v", merged)
	}
	for path, want := range map[string]string{"main.tf": "a, changed\n\n\n\nb\n\n\n\nc, changed\n", "head.tf": "h",
		"base.tf": "b"} {
		if got, err := w.mirror.ReadFile(t.Context(), merged.Commit, path, 100); err != nil || string(got) != want {
			t.Errorf("%s has %q, %v", path, got, err)
		}
	}
	second := *w
	second.folder = t.TempDir()
	second.mirror = second.open(gitmirror.Limits{})
	second.fetch()
	if again := merge(second.mirror, base, head); again != merged {
		t.Errorf("elsewhere it is %+v, not %+v", again, merged)
	}
	if other := merge(w.mirror, more, head); other.Commit == merged.Commit {
		t.Error("the merge with another commit is the same one")
	}
	if got := merge(w.mirror, begin, head); got.Commit != head {
		t.Errorf("a head that lacks nothing: %+v", got)
	}
	if got := merge(w.mirror, more, base); got.Commit != more {
		t.Errorf("a head that has nothing: %+v", got)
	}
	if n, err := w.mirror.Lacking(t.Context(), more, head); err != nil || n != 2 {
		t.Errorf("it lacks %d commits, %v", n, err)
	}
	if branches, err := w.mirror.Branches(t.Context()); err != nil || len(branches) != 2 || branches["pr"] != head {
		t.Errorf("the branches are %v, %v", branches, err)
	}
}

// What both sides change in the same place does not merge, nor what has no history in common.
func TestMergeInConflict(t *testing.T) {
	w := newWorld(t, gitmirror.Limits{})
	w.source.Branches = []string{"*"}
	w.repo.Write("infra/main.tf", "a")
	w.repo.Commit("Begin")
	w.repo.Switch("pr")
	w.repo.Write("infra/main.tf", "b")
	head := w.repo.Commit("Change")
	w.repo.Git("switch", "--quiet", "main")
	w.repo.Write("infra/main.tf", "c")
	base := w.repo.Commit("Go on")
	apart := w.repo.Tree("apart", "100644 blob "+w.repo.Blob("x")+"\tx")
	w.fetch()
	merged, err := w.mirror.Merge(t.Context(), base, head)
	if err != nil || merged != (gitmirror.Merged{Conflict: "infra/main.tf"}) {
		t.Errorf("%+v, %v", merged, err)
	}
	merged, err = w.mirror.Merge(t.Context(), base, apart)
	if err != nil || merged.Commit != "" || merged.Conflict == "" {
		t.Errorf("without a common history: %+v, %v", merged, err)
	}
	_, err = w.mirror.Merge(t.Context(), base, "0123456789012345678901234567890123456789")
	wantKind(t, err, gitmirror.NotThere)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.mirror.Merge(over, base, head); err == nil {
		t.Error("it goes on when nobody waits any more")
	}
}
