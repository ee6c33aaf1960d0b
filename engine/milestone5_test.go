package engine_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/debug"
	"github.com/holdfast/holdfast/engine/oplog"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/statefile"
	"github.com/holdfast/holdfast/internal/drawing"
)

// The smoke test of the whole: plan, apply, nothing left to do, and a file that is there. It needs no provider besides.
func TestM5PlanAndApplyASimpleConfiguration(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "hello.txt")
	text := "terraform {\n  required_providers {\n    file = {\n      source = \"terraform.io/builtin/file\"\n    }\n  }\n}\n" +
		"resource \"file\" \"example\" {\n  path    = \"" + path + "\"\n  content = \"hello\"\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 0} {
		e, err := engine.New(engine.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		p, err := e.Plan(t.Context(), plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if add, change, destroy := p.Count(); add != want || change+destroy != 0 {
			t.Errorf("%d to add, %d to change, %d to destroy, want %d to add", add, change, destroy, want)
		}
		if _, err := e.Apply(t.Context(), p, apply.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if made, err := os.ReadFile(path); err != nil || string(made) != "hello" {
		t.Errorf("%q %v", made, err)
	}
}

const network = "resource \"fake_thing\" \"vpc\" {\n  name = \"vpc\"\n}\n" +
	"resource \"fake_thing\" \"subnet\" {\n  name  = \"subnet\"\n  links = [fake_thing.vpc.id]\n}\n"

// A cloud's objects live through everything: a bucket is created, updated and deleted; a network's parts come in their
// order and go in the reverse one, also after an apply that failed half-way, so that nothing stays behind.
func TestM5ObjectsAreCreatedUpdatedAndDeleted(t *testing.T) {
	s := newSite(t, "resource \"fake_thing\" \"bucket\" {\n  name = \"bucket\"\n}\n")
	full := false
	s.world.Fail = func(what, name string) error {
		if full && what == "create" && name == "subnet" {
			return &provider.Fault{Summary: "there is no room", Code: 403}
		}
		return nil
	}
	do := func(o plan.Options) error {
		_, err := s.apply(o, apply.Options{})
		return err
	}
	steps := []func() error{
		func() error { return do(plan.Options{}) },
		func() error {
			s.write(t, "main.tf", "resource \"fake_thing\" \"bucket\" {\n  name = \"bucket\"\n  size = 2\n}\n")
			return do(plan.Options{})
		},
		func() error { s.write(t, "main.tf", network); return do(plan.Options{}) },
		func() error { return do(plan.Options{Destroy: true}) },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
	want := []string{"create bucket", "update bucket", "delete bucket", "create vpc", "create subnet", "delete subnet",
		"delete vpc"}
	got := s.world.Calls()
	// The bucket and the network don't depend on each other: only the order of each counts.
	if i := slices.Index(got, "delete bucket"); i < 2 || i > 4 {
		t.Errorf("%q", got)
	} else if got = slices.Insert(slices.Delete(got, i, i+1), 2, "delete bucket"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if full = true; do(plan.Options{}) == nil || s.world.Len() != 1 {
		t.Errorf("%d objects are there after a failure in the middle", s.world.Len())
	}
	if err := do(plan.Options{Destroy: true}); err != nil || s.world.Len() != 0 {
		t.Errorf("%v, %d objects stay behind", err, s.world.Len())
	}
}

// A cloud that has enough of calls in the middle of an apply is given the time that it asks for, and the rest is done.
func TestM5RateLimitInTheMiddleIsWaitedFor(t *testing.T) {
	s := newSite(t, network)
	synctest.Test(t, func(t *testing.T) {
		begin, limited := time.Now(), false
		s.world.Fail = func(_, name string) error {
			if name != "subnet" || limited {
				return nil
			}
			limited = true
			return &provider.Fault{Summary: "too many requests", Code: 429, After: 40}
		}
		result, err := s.apply(plan.Options{}, apply.Options{})
		if err != nil || result.Added != 2 {
			t.Fatalf("%+v %v", result, err)
		}
		if waited := time.Since(begin); waited < 40*time.Second {
			t.Errorf("it waited %s, and 40 seconds were asked for", waited)
		}
	})
	s.settled(t)
}

// What is needed to find out what happened is there after an apply: a log in JSON with the operations' IDs, a report of
// the state, and a picture of the dependencies.
func TestM5DebugCheckpoint(t *testing.T) {
	s := newSite(t, network)
	var log bytes.Buffer
	s.options = func(o *engine.Options) { o.Log = oplog.New(&log, slog.LevelInfo, true) }
	e, p, err := s.plan(plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Apply(context.Background(), p, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	lines := logged(t, log.String())
	if len(lines) < 6 {
		t.Errorf("the log has %d lines", len(lines))
	}
	for _, line := range lines {
		if id, _ := line["correlation_id"].(string); len(id) != 8 || line["timestamp"] == nil {
			t.Errorf("%v", line)
		}
	}
	state, err := statefile.NewLocal(filepath.Join(s.dir, "terraform.tfstate")).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var report, picture strings.Builder
	if err := debug.Inspect(state).Text(&report, "terraform.tfstate"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"State File:", "Total Resources: 2", "fake_thing", "State file appears valid"} {
		if !strings.Contains(report.String(), want) {
			t.Errorf("the report doesn't say %q:\n%s", want, &report)
		}
	}
	if err := drawing.SVG(&picture, plan.Blocks(e.Root)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fake_thing.subnet", "fake_thing.vpc"} {
		if !strings.Contains(picture.String(), name) {
			t.Errorf("the picture doesn't have %s: %s", name, &picture)
		}
	}
}
