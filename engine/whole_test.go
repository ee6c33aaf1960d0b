package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/statefile"
)

func TestReplayHasTheStateAfterEachStep(t *testing.T) {
	s := newSite(t, `
resource "fake_thing" "a" { name = "a" }
resource "fake_thing" "b" {
  name  = "b"
  links = [fake_thing.a.id]
}
`)
	folder := filepath.Join(t.TempDir(), "snapshots")
	s.options = func(o *engine.Options) { o.Snapshots = folder }
	s.world.Fail = func(_, name string) error {
		if name == "b" {
			return &provider.Fault{Summary: "no", Code: 403}
		}
		return nil
	}
	if _, err := s.apply(plan.Options{}, apply.Options{}); err == nil {
		t.Fatal("it doesn't fail")
	}
	s.world.Fail = nil
	if _, err := s.apply(plan.Options{Destroy: true}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	all, err := engine.Snapshots(folder)
	if err != nil || len(all) != 2 || all[0].Operation != "apply" || all[1].Operation != "destroy" || all[0].User == "" {
		t.Fatalf("%+v %v", all, err)
	}
	if f, err := all[0].File(); f != nil || err != nil {
		t.Errorf("before the first apply there was %v %v", f, err)
	}
	steps, err := engine.Replay(folder, all[0].ID)
	if err != nil || len(steps) != 2 || steps[0].Address != "fake_thing.a" || steps[1].Error == "" ||
		len(steps[1].State.Resources) != 1 {
		t.Fatalf("%+v %v", steps, err)
	}
	steps, err = engine.Replay(folder, all[1].ID)
	if err != nil || len(steps) != 1 || steps[0].Action != plan.Delete || len(steps[0].State.Resources) != 0 {
		t.Fatalf("%+v %v", steps, err)
	}
	if _, err := engine.ReadSnapshot(folder, "../main"); err == nil {
		t.Error("a path is taken for a snapshot's ID")
	}
}

func TestImportRecordsWhatIsThere(t *testing.T) {
	s := newSite(t, `resource "fake_thing" "a" { name = "a" }`)
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(s.dir, "terraform.tfstate")); err != nil {
		t.Fatal(err)
	}
	to, err := addr.Parse("fake_thing.a")
	if err != nil {
		t.Fatal(err)
	}
	importing := plan.Options{RefreshOnly: true, NoRefresh: true, Targets: []addr.Resource{to},
		Imports: []plan.Import{{To: to, ID: "thing-1"}}}
	if _, err := s.apply(importing, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	s.settled(t)
	if got := s.world.Calls(); !slices.Equal(got, []string{"create a"}) {
		t.Errorf("importing did %q", got)
	}
	if _, err := s.apply(importing, apply.Options{}); err == nil {
		t.Error("it was imported twice")
	}
	missing, err := addr.Parse("fake_thing.b")
	if err != nil {
		t.Fatal(err)
	}
	importing.Imports, importing.Targets = []plan.Import{{To: missing, ID: "thing-1"}}, []addr.Resource{missing}
	if _, err := s.apply(importing, apply.Options{}); err == nil {
		t.Error("it was imported into a block that isn't there")
	}
}

func TestWorkspacesHaveStatesOfTheirOwn(t *testing.T) {
	s := newSite(t, `resource "fake_thing" "a" { name = "in ${terraform.workspace}" }`)
	if err := engine.Select(s.dir, "staging", false); err == nil {
		t.Error("a workspace that isn't there was selected")
	}
	for _, name := range []string{"staging", "other.one"} {
		if err := engine.Select(s.dir, name, true); err != nil {
			t.Fatal(err)
		}
		if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := engine.Select(s.dir, "default", false); err != nil {
		t.Fatal(err)
	}
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	want := []string{"create in staging", "create in other.one", "create in default"}
	if got := s.world.Calls(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "terraform.tfstate.d", "staging", "terraform.tfstate")); err != nil {
		t.Error(err)
	}
	all, err := engine.Workspaces(s.dir)
	if err != nil || !slices.Equal(all, []string{"default", "other.one", "staging"}) {
		t.Errorf("%q %v", all, err)
	}
	if engine.Select(s.dir, "../x", true) == nil || engine.Select(s.dir, "staging", true) == nil {
		t.Error("a bad name, or one that is taken, was made")
	}
}

func TestM2SecondLockTimesOut(t *testing.T) {
	s := newSite(t, ``)
	s.options = func(o *engine.Options) { o.LockTimeout = 30 * time.Second }
	e, err := s.engine()
	if err != nil {
		t.Fatal(err)
	}
	release, err := e.Lock(t.Context(), "apply")
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.engine()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	_, err = lockedAt(t, second)
	var fault *diag.Error
	if !errors.As(err, &fault) || fault.Category != diag.Concurrency {
		t.Errorf("after %s: %v", time.Since(start), err)
	}
	if err := release(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// lockedAt locks while time goes by as fast as nothing happens in it.
func lockedAt(t *testing.T, e *engine.Engine) (waited time.Duration, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err = e.Lock(t.Context(), "plan")
		if waited = time.Since(start); waited < 28*time.Second || waited > 31*time.Second {
			t.Errorf("it waited %s", waited)
		}
	})
	return waited, err
}

// modules is a fetcher that has one module.
type modules struct {
	dir   string
	asked []config.GitSource
}

func (m *modules) Fetch(source config.GitSource) (string, error) {
	m.asked = append(m.asked, source)
	if source.Ref != "v1.0.0" {
		return "", errors.New("there is no such tag")
	}
	return m.dir, nil
}

func TestModulesOfGitArePinned(t *testing.T) {
	m := &modules{dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(m.dir, "main.tf"), []byte("variable \"name\" {}\n"+
		"resource \"fake_thing\" \"a\" { name = var.name }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]string{
		"git::https://example.com/a.git//net/vpc?ref=v1.0.0": "",
		"git::https://example.com/a.git?ref=v2.0.0":          "no such tag",
		"git::https://example.com/a.git":                     "isn't pinned",
		"git::https://me:hush@example.com/a.git?ref=v1.0.0":  "no credentials",
		"git::https://example.com/a.git//../x?ref=v1.0.0":    "leads out",
		"git::https://example.com/a.git?ref=-x":              "is no ref",
		"git::https://example.com/a.git?ref=v1.0.0&depth=1":  "only ref",
		"hashicorp/consul/aws":                               "isn't supported",
	} {
		s := newSite(t, "module \"m\" {\n  source = \""+source+"\"\n  name = \"in git\"\n}\n")
		s.options = func(o *engine.Options) { o.Modules = m }
		_, p, err := s.plan(plan.Options{})
		if want == "" {
			if err != nil || len(p.Changes) != 1 || p.Changes[0].Address.String() != "module.m.fake_thing.a" {
				t.Errorf("%s: %v", source, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "main.tf:1") {
			t.Errorf("%s: %v, want %q with its place", source, err, want)
		}
	}
	want := config.GitSource{Repository: "https://example.com/a.git", Ref: "v1.0.0", Folder: "net/vpc"}
	if !slices.Contains(m.asked, want) {
		t.Errorf("it asked for %+v", m.asked)
	}
}

// failing is a store that stops working after some writes.
type failing struct {
	statefile.Store
	left int
}

func (f *failing) Write(ctx context.Context, s *statefile.File) error {
	if f.left--; f.left < 0 {
		return errors.New("the disk is full")
	}
	return f.Store.Write(ctx, s)
}

func TestStateThatCanNotBeStoredIsKept(t *testing.T) {
	s := newSite(t, `resource "fake_thing" "a" { name = "a" }`)
	s.options = func(o *engine.Options) {
		o.Store = &failing{Store: statefile.NewLocal(filepath.Join(s.dir, "terraform.tfstate"))}
	}
	_, err := s.apply(plan.Options{}, apply.Options{})
	path := filepath.Join(s.dir, engine.ErroredState)
	if err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("%v doesn't say where the state is", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := statefile.Parse(text); err != nil || len(f.Resources) != 1 {
		t.Errorf("%+v %v", f, err)
	}
	// The next one takes its name and not its place: the first is all that knows of what the first apply has made.
	for range 2 {
		if _, err = s.apply(plan.Options{}, apply.Options{}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%v doesn't say where the state is", err)
		}
	}
	kept, err := os.ReadFile(filepath.Join(s.dir, "errored-2.tfstate"))
	if err != nil || string(kept) != string(text) {
		t.Errorf("the first state became %s: %v", kept, err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "errored-3.tfstate")); err != nil {
		t.Error(err)
	}
}

func TestOverrideOfTheBackendAloneIsTaken(t *testing.T) {
	s := newSite(t, "terraform {\n  backend \"local\" {\n    path = \"elsewhere.tfstate\"\n  }\n}\n"+things(1))
	s.write(t, "zz_override.tf", "terraform {\n  backend \"local\" {\n    path = \"here.tfstate\"\n  }\n}\n")
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "here.tfstate")); err != nil {
		t.Error(err)
	}
	s.write(t, "zz_override.tf", "locals {\n  a = 1\n}\n")
	if _, _, err := s.plan(plan.Options{}); err == nil || !strings.Contains(err.Error(), "more than the backend") {
		t.Error(err)
	}
}

func TestPlansJSONSaysTheSameTwice(t *testing.T) {
	s := newSite(t, things(3)+"variable \"v\" {\n  default = 1\n}\noutput \"o\" { value = var.v }\n")
	var texts []string
	for range 2 {
		_, p, err := s.plan(plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		text, err := p.JSON()
		if err != nil || !json.Valid(text) {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if texts[0] != texts[1] {
		t.Errorf("%s\n%s", texts[0], texts[1])
	}
}

func TestPathFunctionsNeedTheFile(t *testing.T) {
	s := newSite(t, "resource \"fake_thing\" \"a\" {\n  name = file(\"${path.module}/none.txt\")\n}\n")
	if _, _, err := s.plan(plan.Options{}); err == nil || !strings.Contains(err.Error(), "none.txt") {
		t.Error(err)
	}
}
