package engine_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/plan"
)

// An error of a hook ends what goes on, at each place where hooks stand; what is done by then stays.
func TestHooksEndWhatGoesOn(t *testing.T) {
	no := errors.New("the hook says no")
	for place, c := range map[string]struct {
		hooks engine.Hooks
		made  int
	}{
		"before plan":     {engine.Hooks{BeforePlan: func(context.Context, *plan.Options) error { return no }}, 0},
		"after plan":      {engine.Hooks{AfterPlan: func(context.Context, *plan.Plan) error { return no }}, 0},
		"before apply":    {engine.Hooks{BeforeApply: func(context.Context, *plan.Plan) error { return no }}, 0},
		"before resource": {engine.Hooks{BeforeResource: func(context.Context, *plan.Change) error { return no }}, 0},
		"after resource": {engine.Hooks{
			AfterResource: func(context.Context, *plan.Change, error) error { return no }}, 1},
		"after apply": {engine.Hooks{
			AfterApply: func(context.Context, *plan.Plan, *apply.Result, error) error { return no }}, 1},
	} {
		s := newSite(t, things(1))
		s.options = func(o *engine.Options) { o.Hooks = []engine.Hooks{{}, c.hooks} }
		_, err := s.apply(plan.Options{}, apply.Options{})
		if err == nil || !strings.Contains(err.Error(), no.Error()) || s.world.Len() != c.made {
			t.Errorf("%s: %v, %d objects, want %d", place, err, s.world.Len(), c.made)
		}
		s.options = nil
		if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil { // the lock is free, the state whole
			t.Errorf("%s: afterwards %v", place, err)
		}
		s.settled(t)
	}
}

// What callers of an apply ask for themselves is asked too, behind the hooks.
func TestCallersStandBehindTheHooks(t *testing.T) {
	s := newSite(t, things(1))
	var order []string
	note := func(what string) { order = append(order, what) }
	s.options = func(o *engine.Options) {
		o.Hooks = []engine.Hooks{{BeforeResource: func(context.Context, *plan.Change) error { note("hook"); return nil },
			AfterResource: func(context.Context, *plan.Change, error) error { note("hook"); return nil }}}
	}
	if _, err := s.apply(plan.Options{}, apply.Options{
		Before: func(context.Context, *plan.Change) error { note("caller"); return nil },
		After:  func(context.Context, *plan.Change, error) error { note("caller"); return nil },
	}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, " "); got != "hook caller hook caller" {
		t.Error(got)
	}
}

// A plan on a state that somebody has changed since isn't done.
func TestPlanOnAnOlderStateIsNotDone(t *testing.T) {
	s := newSite(t, things(2))
	e, p, err := s.plan(plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	_, err = e.Apply(t.Context(), p, apply.Options{})
	var fault *diag.Error
	if !errors.As(err, &fault) || fault.Category != diag.Concurrency || s.world.Len() != 2 {
		t.Errorf("%v, %d objects", err, s.world.Len())
	}
}

// An apply that is stopped before it begins does nothing, and says that it was interrupted.
func TestStoppedApplyBeginsNothing(t *testing.T) {
	s := newSite(t, things(3))
	stop := make(chan struct{})
	close(stop)
	result, err := s.apply(plan.Options{}, apply.Options{Stop: stop})
	var fault *diag.Error
	if !errors.As(err, &fault) || fault.Category != diag.Partial || !strings.Contains(err.Error(), "interrupted") ||
		len(result.NotBegun) != 3 || s.world.Len() != 0 {
		t.Errorf("%+v %v", result, err)
	}
}

// Saved plans of all kinds come back as they were: what they destroy, look at, aim at and replace, with the modules
// that they were made of.
func TestSavedPlansOfAllKindsAreMadeAgain(t *testing.T) {
	s := newSite(t, "module \"m\" {\n  source = \"./m\"\n}\n"+things(2))
	s.write(t, "m/main.tf", "resource \"fake_thing\" \"in\" {\n  name = \"in\"\n}\n")
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	target, err := addr.Parse("fake_thing.t1")
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]plan.Options{"destroy": {Destroy: true}, "refresh": {RefreshOnly: true},
		"target":  {Targets: []addr.Resource{target}, Destroy: true},
		"replace": {Replace: []addr.Resource{target}, NoRefresh: true}} {
		e, p, err := s.plan(o)
		if err != nil {
			t.Fatal(err)
		}
		saved := throughFile(t, p)
		again, err := e.Replan(t.Context(), saved)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if before, after := show(t, p, plan.Colours{}), show(t, again, plan.Colours{}); before != after {
			t.Errorf("%s:\n%s\nis made again as\n%s", name, before, after)
		}
	}
}

// What is no plan, or one of another version, is refused before anything is done with it.
func TestWhatIsNoSavedPlanIsRefused(t *testing.T) {
	zipped := func(text string) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, err := z.Create("holdfast.json")
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err := errors.Join(err, z.Close()); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	var empty bytes.Buffer
	if err := zip.NewWriter(&empty).Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file []byte
		want string
	}{{[]byte("x"), "no plan of this engine's"}, {empty.Bytes(), "no plan of this engine's"},
		{zipped("{"), "no saved plan"}, {zipped(`{"holdfast_plan": 99}`), "another version"}} {
		_, err := engine.ParseSaved(c.file)
		var fault *diag.Error
		if !errors.As(err, &fault) || fault.Category != diag.Planning || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	s := newSite(t, "variable \"v\" {\n  default = 1\n}\n")
	e, p, err := s.plan(plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	saved := throughFile(t, p)
	saved.Options.Targets = []string{"not an address"}
	if _, err := e.Replan(t.Context(), saved); err == nil || !strings.Contains(err.Error(), "the plan names") {
		t.Error(err)
	}
}
