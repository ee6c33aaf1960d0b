package reconcile_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/enclave/reconcile"
)

// outcomes are those of partitions, by their paths.
func outcomes(all []reconcile.Result) map[string]reconcile.Outcome {
	by := map[string]reconcile.Outcome{}
	for _, r := range all {
		by[r.Path] = r.Outcome
	}
	return by
}

func applied(t *testing.T, w *world, dir, here string, o reconcile.Options) []reconcile.Result {
	t.Helper()
	all, err := reconciler(t, w, dir, here, o).Apply(t.Context())
	if err != nil {
		t.Fatalf("%v: %+v", err, all)
	}
	return all
}

func TestApplyGoesInTheOrderOfImportsAndThenDoesNothing(t *testing.T) {
	w, dir, here := newWorld(), tree(t, product()), t.TempDir()
	applied(t, w, dir, here, reconcile.Options{})
	at := func(what string) int { return slices.Index(w.journal, what) }
	if len(w.journal) != 4 || at("apply a/db") > at("apply a/api") || at("apply a/api") > at("apply a/web") ||
		at("apply a/alone") < 0 {
		t.Errorf("%q", w.journal)
	}
	if got := string(w.states["a/web"]["all"].Value); got != `"x://app/"` {
		t.Errorf("web has %s", got)
	}
	if got := string(w.states["a/api"]["second"].Value); got != `"app"` {
		t.Errorf("the sensitive value is %s", got)
	}
	before, runs := w.shown(), len(w.runs)
	again := outcomes(applied(t, w, dir, here, reconcile.Options{}))
	for path, outcome := range again {
		if outcome != reconcile.Unchanged {
			t.Errorf("%s is %s", path, outcome)
		}
	}
	if diff := cmp.Diff(before, w.shown()); diff != "" || len(w.runs) != runs || len(again) != 5 {
		t.Errorf("applying again did something: %d runs more\n%s", len(w.runs)-runs, diff)
	}
}

// change makes the folder another one: the database has another name, an input is gone, two partitions are.
func change(t *testing.T, dir string) {
	t.Helper()
	for path, text := range map[string]string{
		"a/db/config.yml": strings.Replace(product()["a/db/config.yml"], "name: app", "name: orders", 1),
		"a/api/config.yml": strings.Replace(strings.Replace(product()["a/api/config.yml"], ", p: '{{ db.password }}'", "", 1),
			"u: 'x", "u: 'y", 1),
	} {
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, gone := range []string{"a/web", "a/q"} {
		if err := os.RemoveAll(filepath.Join(dir, gone)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKilledAtEveryStepEndsTheSame has an apply die after each of its calls, and begin again.
func TestKilledAtEveryStepEndsTheSame(t *testing.T) {
	for name, made := range map[string]func(w *world, dir, here string){
		"create": func(*world, string, string) {},
		"change": func(w *world, dir, here string) {
			applied(t, w, dir, here, reconcile.Options{})
			change(t, dir)
		},
	} {
		t.Run(name, func(t *testing.T) {
			run := func(kill int) (string, bool) {
				w, dir, here := newWorld(), tree(t, product()), t.TempDir()
				made(w, dir, here)
				w.left = kill
				o := reconcile.Options{Prune: true, Width: 1}
				_, err := reconciler(t, w, dir, here, o).Apply(t.Context())
				died := w.left == 0
				w.left = -1
				if died {
					_, err = reconciler(t, w, dir, here, o).Apply(t.Context())
				}
				if err != nil {
					t.Fatalf("killed at %d: %v", kill, err)
				}
				plan, err := reconciler(t, w, dir, here, o).Plan(t.Context())
				for _, r := range plan {
					if err != nil || r.Action != reconcile.None {
						t.Fatalf("killed at %d: %s is still to be done: %+v %v", kill, r.Path, r, err)
					}
				}
				return w.shown(), died
			}
			want, _ := run(-1)
			for kill := 1; ; kill++ {
				got, died := run(kill)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("killed at %d it ends otherwise:\n%s", kill, diff)
				}
				if !died {
					if kill < 30 {
						t.Errorf("only %d steps", kill)
					}
					return
				}
			}
		})
	}
}

func TestFailureHoldsUpOnlyWhatNeedsIt(t *testing.T) {
	w, dir, here := newWorld(), tree(t, product()), t.TempDir()
	w.failing["a/api"] = true
	all, err := reconciler(t, w, dir, here, reconcile.Options{}).Apply(t.Context())
	want := map[string]reconcile.Outcome{"a/db": "applied", "a/api": "failed", "a/web": "skipped", "a/alone": "applied",
		"a/q": "applied"}
	if diff := cmp.Diff(want, outcomes(all)); diff != "" {
		t.Error(diff)
	}
	if _, ok := errors.AsType[*reconcile.BadError](err); !ok {
		t.Errorf("%v", err)
	}
	w.failing["a/api"], w.journal = false, nil
	applied(t, w, dir, here, reconcile.Options{})
	if diff := cmp.Diff([]string{"apply a/api", "apply a/web"}, w.journal); diff != "" {
		t.Error(diff)
	}
}

func TestRemovalGoesInReverseAndSparesWhatIsProtected(t *testing.T) {
	w, dir, here := newWorld(), tree(t, product()), t.TempDir()
	applied(t, w, dir, here, reconcile.Options{})
	w.journal = nil
	w.workspaces["a/db"].Settings.Protected = true
	_, err := reconciler(t, w, dir, here, reconcile.Options{}).Destroy(t.Context())
	refused, ok := errors.AsType[*reconcile.ProtectedError](err)
	if !ok || !slices.Equal(refused.Paths, []string{"a/db"}) || len(w.journal) > 0 {
		t.Errorf("%v, %q", err, w.journal)
	}
	w.workspaces["a/db"].Settings.Protected = false
	if _, err := reconciler(t, w, dir, here, reconcile.Options{}).Destroy(t.Context()); err != nil {
		t.Fatal(err)
	}
	chain := slices.DeleteFunc(w.journal, func(line string) bool { return strings.HasSuffix(line, "alone") })
	if diff := cmp.Diff([]string{"destroy a/web", "destroy a/api", "destroy a/db"}, chain); diff != "" {
		t.Error(diff)
	}
	if left := w.shown(); left != "" {
		t.Errorf("this is left:\n%s", left)
	}
	if files, _ := filepath.Glob(filepath.Join(here, "*", "*", "*")); len(files) > 0 {
		t.Errorf("%q", files)
	}
}

func TestWhatOthersHaveIsLeftAlone(t *testing.T) {
	w, dir, here := newWorld(), tree(t, product()), t.TempDir()
	applied(t, w, dir, here, reconcile.Options{})
	w.workspaces["a/other"] = &api.Workspace{Name: "a/other", Snapshot: &api.Snapshot{Number: 1, ID: "x"}}
	empty := tree(t, map[string]string{"b/config.yml": "id: b\n"})
	w.snapshots["a/other"] = []reconcile.File{{SnapshotFile: api.SnapshotFile{Path: ".holdfast/partition.json"},
		Text: []byte("somebody's")}}
	w.journal = nil
	applied(t, w, empty, here, reconcile.Options{Set: "second", Prune: true})
	if len(w.journal) > 0 {
		t.Errorf("another set's partitions are taken away: %q", w.journal)
	}
	all, err := reconciler(t, w, dir, here, reconcile.Options{Set: "second"}).Apply(t.Context())
	if err == nil || !strings.Contains(all[0].Reason+all[1].Reason, `is of the set "default"`) {
		t.Errorf("%v %+v", err, all)
	}
	applied(t, w, empty, here, reconcile.Options{Prune: true})
	if w.workspaces["a/other"] == nil || len(w.workspaces) != 1 {
		t.Errorf("%v", w.shown())
	}
}

func TestApprovalIsWaitedForByTheNextApply(t *testing.T) {
	w, dir, here := newWorld(), tree(t, product()), t.TempDir()
	w.approvals = true
	all, err := reconciler(t, w, dir, here, reconcile.Options{}).Apply(t.Context())
	by := outcomes(all)
	if err == nil || by["a/db"] != reconcile.Waiting || by["a/api"] != reconcile.Skipped {
		t.Fatalf("%v %v", err, by)
	}
	runs := len(w.runs)
	w.approvals = false
	applied(t, w, dir, here, reconcile.Options{})
	if w.runs[0].Status != "succeeded" || len(w.runs) != runs+2 {
		t.Errorf("%d runs, then %d", runs, len(w.runs))
	}
}

func TestDriftThatARunHasFoundIsPutRight(t *testing.T) {
	w, dir, here := newWorld(), tree(t, product()), t.TempDir()
	applied(t, w, dir, here, reconcile.Options{})
	w.runs = append(w.runs, &api.Run{ID: "found", Workspace: "a/db", Kind: "drift", Status: "succeeded",
		Counts: &api.RunCounts{Drift: 1}})
	w.journal = nil
	applied(t, w, dir, here, reconcile.Options{})
	if !slices.Contains(w.journal, "apply a/db") {
		t.Errorf("%q", w.journal)
	}
}

// What somebody has run on their machine since has not applied the configuration that the server has, and a record of
// it that goes on is in nobody's way.
func TestRunElsewhereIsFollowedByOneOfTheServers(t *testing.T) {
	for _, status := range []string{"succeeded", "applying"} {
		w, dir, here := newWorld(), tree(t, product()), t.TempDir()
		applied(t, w, dir, here, reconcile.Options{})
		w.runs = append(w.runs, &api.Run{ID: "here", Workspace: "a/db", Kind: "apply", Status: status, Elsewhere: true})
		w.journal = nil
		applied(t, w, dir, here, reconcile.Options{})
		if !slices.Contains(w.journal, "apply a/db") || slices.Contains(w.journal, "apply a/alone") {
			t.Errorf("%s: %q", status, w.journal)
		}
	}
}
