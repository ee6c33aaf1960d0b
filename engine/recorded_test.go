package engine_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/provider/recorded"
	"github.com/holdfast/holdfast/engine/statefile"
)

// What was recorded of a provider is enough to do all of it again without the provider: with the same state.
func TestRecordedProviderAnswersAgain(t *testing.T) {
	s := newSite(t, "resource \"fake_thing\" \"a\" { name = \"a\" }\nresource \"fake_thing\" \"b\" {\n  name = \"b\"\n"+
		"  links = [fake_thing.a.id]\n}\n")
	one := func(f provider.Factory) func(*engine.Options) {
		return func(o *engine.Options) {
			registry := provider.NewRegistry(nil)
			registry.Add(addr.Provider{Host: addr.DefaultHost, Namespace: "hashicorp", Name: "fake"}, f)
			o.Registry = registry
		}
	}
	apply2 := func() {
		t.Helper()
		if _, err := s.apply(plan.Options{}, apply.Options{Parallelism: 1}); err != nil {
			t.Fatal(err)
		}
		s.write(t, "main.tf", "resource \"fake_thing\" \"a\" { name = \"changed\" }\n")
		if _, err := s.apply(plan.Options{}, apply.Options{Parallelism: 1}); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.ReadFile(filepath.Join(s.dir, "main.tf"))
	if err != nil {
		t.Fatal(err)
	}
	var recording bytes.Buffer
	s.options = one(recorded.NewRecording(&recording).Record(s.world.New))
	apply2()
	want := resourcesOf(t, s)
	if err := os.Remove(filepath.Join(s.dir, "terraform.tfstate")); err != nil {
		t.Fatal(err)
	}
	s.write(t, "main.tf", string(before))
	replay, err := recorded.Replay(strings.NewReader(recording.String()))
	if err != nil {
		t.Fatal(err)
	}
	calls := len(s.world.Calls())
	s.options = one(replay)
	apply2()
	if got := resourcesOf(t, s); got != want || len(s.world.Calls()) != calls {
		t.Errorf("replayed it is %s\nand was %s", got, want)
	}
	s.write(t, "main.tf", "resource \"fake_thing\" \"a\" { name = \"not recorded\" }\n")
	if _, _, err := s.plan(plan.Options{}); err == nil || !strings.Contains(err.Error(), "the recording has no such") {
		t.Errorf("what wasn't recorded: %v", err)
	}
	if _, err := recorded.Replay(strings.NewReader("{")); err == nil {
		t.Error("half a recording was taken for one")
	}
}

// stateOf is what is recorded.
func stateOf(t *testing.T, s *site) *statefile.File {
	t.Helper()
	e, err := s.engine()
	if err != nil {
		t.Fatal(err)
	}
	state, err := e.Store.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func resourcesOf(t *testing.T, s *site) string {
	t.Helper()
	state := stateOf(t, s)
	state.Lineage, state.Serial = "x", 0
	text, err := state.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
