package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/plan"
)

// Four kinds of difference: what is new, changed, gone and the same.
func TestM2FindsTheFourKindsOfDifference(t *testing.T) {
	s := newSite(t, "resource \"fake_thing\" \"same\" {\n  name = \"same\"\n}\n"+
		"resource \"fake_thing\" \"changed\" {\n  name = \"changed\"\n  size = 1\n}\n"+
		"resource \"fake_thing\" \"gone\" {\n  name = \"gone\"\n}\n")
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	s.write(t, "main.tf", "resource \"fake_thing\" \"same\" {\n  name = \"same\"\n}\n"+
		"resource \"fake_thing\" \"changed\" {\n  name = \"changed\"\n  size = 2\n}\n"+
		"resource \"fake_thing\" \"new\" {\n  name = \"new\"\n}\n")
	_, p, err := s.plan(plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]plan.Action{}
	for _, c := range p.Changes {
		got[c.Address.String()] = c.Action
	}
	for address, want := range map[string]plan.Action{"fake_thing.same": plan.NoOp, "fake_thing.changed": plan.Update,
		"fake_thing.gone": plan.Delete, "fake_thing.new": plan.Create} {
		if got[address] != want {
			t.Errorf("%s: %q, want %q", address, got[address], want)
		}
	}
}

// What others depend on is deleted after them, also if the configuration doesn't have them any more.
func TestM2DeletesWhatDependsFirst(t *testing.T) {
	s := newSite(t, network)
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	s.write(t, "main.tf", "")
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	want := []string{"create vpc", "create subnet", "delete subnet", "delete vpc"}
	if got := s.world.Calls(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The lock is there while an apply works, and gone afterwards; the state is there after the first one.
func TestM2LockAppearsAndDisappears(t *testing.T) {
	s := newSite(t, things(1))
	state := filepath.Join(s.dir, "terraform.tfstate")
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	seen := false
	s.options = func(o *engine.Options) {
		o.Hooks = []engine.Hooks{{BeforeApply: func(context.Context, *plan.Plan) error {
			seen = exists(state+".lock") && !exists(state)
			return nil
		}}}
	}
	if exists(state) || exists(state+".lock") {
		t.Fatal("there is a state before anything is done")
	}
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	if !seen || exists(state+".lock") || !exists(state) {
		t.Errorf("the lock was there: %v; it still is: %v; there is a state: %v", seen, exists(state+".lock"), exists(state))
	}
}
