package engine_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/statefile"
)

// An object that was made and could not be recorded isn't lost: it is in the file that the error names, and nothing is
// made twice once that is the state.
func TestNoZombieIsLeftWhenTheStateCanNotBeWritten(t *testing.T) {
	s := newSite(t, things(1))
	path := filepath.Join(s.dir, "terraform.tfstate")
	s.options = func(o *engine.Options) { o.Store = &failing{Store: statefile.NewLocal(path)} }
	_, err := s.apply(plan.Options{}, apply.Options{})
	if err == nil || !strings.Contains(err.Error(), engine.ErroredState) {
		t.Fatalf("it doesn't say where the record is: %v", err)
	}
	s.options = nil
	if err := os.Rename(filepath.Join(s.dir, engine.ErroredState), path); err != nil {
		t.Fatal(err)
	}
	s.settled(t)
	if got := s.world.Calls(); !slices.Equal(got, []string{"create t0"}) {
		t.Errorf("it did %q", got)
	}
}

// A step that takes long says every ten seconds that it is still at it, and for how long.
func TestHungApplySaysThatItIsStillAtIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, things(1))
		s.world.Latency = 35 * time.Second
		var said []string
		if _, err := s.apply(plan.Options{}, apply.Options{Events: func(e apply.Event) {
			said = append(said, fmt.Sprintf("%s %s %s", e.Address, e.Phase, e.Elapsed))
		}}); err != nil {
			t.Fatal(err)
		}
		want := []string{"fake_thing.t0 started 0s", "fake_thing.t0 progress 10s", "fake_thing.t0 progress 20s",
			"fake_thing.t0 progress 30s", "fake_thing.t0 finished 35s"}
		if !slices.Equal(said, want) {
			t.Errorf("it says %q, want %q", said, want)
		}
	})
}

// A state doesn't grow with what was, nor do its backups become more and more.
func TestStateDoesNotGrow(t *testing.T) {
	s := newSite(t, things(3))
	path := filepath.Join(s.dir, "terraform.tfstate")
	size := 0
	for round := range 10 {
		if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.apply(plan.Options{Destroy: true}, apply.Options{}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if f, err := statefile.Parse(text); err != nil || len(f.Resources) != 0 {
			t.Fatalf("after everything is destroyed: %s %v", text, err)
		}
		if round == 0 {
			size = len(text)
		}
		if len(text) > size+4 { // the serial has more digits
			t.Errorf("round %d: it has %d bytes, and had %d", round, len(text), size)
		}
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil || len(entries) > 8 {
		t.Errorf("there are %d files: %v %v", len(entries), entries, err)
	}
}

// What was limited in spite of all tries says so, with what the provider said.
func TestRateLimitThatLastsIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, things(1))
		tries := 0
		s.world.Fail = func(string, string) error {
			tries++
			return &provider.Fault{Summary: "slow down", Code: 429, Transient: true, After: 2}
		}
		_, err := s.apply(plan.Options{}, apply.Options{})
		if err == nil || !strings.Contains(err.Error(), "slow down") || tries != 5 {
			t.Errorf("after %d tries: %v", tries, err)
		}
		var fault *provider.Fault
		if !errors.As(err, &fault) || fault.Code != 429 {
			t.Errorf("what the provider said is lost: %v", err)
		}
	})
}

// An input of a module may be called enabled: OpenTofu's own enabled is a member of lifecycle.
func TestInputsMayBeCalledEnabled(t *testing.T) {
	s := newSite(t, "module \"m\" {\n  source  = \"./m\"\n  enabled = true\n}\n")
	s.write(t, "m/main.tf", "variable \"enabled\" {}\nresource \"fake_thing\" \"t0\" {\n"+
		"  count = var.enabled ? 1 : 0\n  name  = \"t0\"\n}\n")
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := s.world.Calls(); !slices.Equal(got, []string{"create t0"}) {
		t.Errorf("it did %q", got)
	}
}
