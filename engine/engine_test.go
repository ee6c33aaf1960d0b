package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/provider/builtin"
	"github.com/holdfast/holdfast/engine/provider/fake"
)

// site is a folder with a configuration for the fake provider.
type site struct {
	dir     string
	world   *fake.World
	options func(*engine.Options)
}

func newSite(t testing.TB, text string) *site {
	t.Helper()
	s := &site{dir: t.TempDir(), world: &fake.World{}}
	s.write(t, "main.tf", text)
	return s
}

func (s *site) write(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *site) engine(vars ...string) (*engine.Engine, error) {
	registry := provider.NewRegistry(nil)
	registry.Add(addr.BuiltIn(), builtin.New)
	registry.Add(addr.Provider{Host: addr.DefaultHost, Namespace: "hashicorp", Name: "fake"}, s.world.New)
	o := engine.Options{Dir: s.dir, Registry: registry, Inputs: config.Inputs{Vars: vars}}
	if s.options != nil {
		s.options(&o)
	}
	return engine.New(o)
}

func (s *site) plan(o plan.Options) (*engine.Engine, *plan.Plan, error) {
	e, err := s.engine()
	if err != nil {
		return nil, nil, err
	}
	p, err := e.Plan(context.Background(), o)
	return e, p, err
}

// throughFile is a plan as it comes out of the file that it was saved in.
func throughFile(t *testing.T, p *plan.Plan) *engine.Saved {
	t.Helper()
	file, err := engine.Save(p, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	saved, err := engine.ParseSaved(file)
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

func (s *site) apply(planning plan.Options, o apply.Options) (*apply.Result, error) {
	e, p, err := s.plan(planning)
	if err != nil {
		return nil, err
	}
	return e.Apply(context.Background(), p, o)
}

// settled fails unless a plan has nothing to do.
func (s *site) settled(t testing.TB) {
	t.Helper()
	_, p, err := s.plan(plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !p.Empty() {
		var b strings.Builder
		_ = p.Show(&b, plan.Colours{})
		t.Fatalf("there is something to do after an apply:\n%s", &b)
	}
}

func TestApplyFollowsReferencesAndThenNothingIsLeft(t *testing.T) {
	s := newSite(t, `
resource "fake_thing" "subnet" {
  name  = "subnet"
  links = [fake_thing.vpc.id]
}
resource "fake_thing" "vpc" { name = "vpc" }
`)
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	s.settled(t)
	result, err := s.apply(plan.Options{Destroy: true}, apply.Options{})
	if err != nil || result.Destroyed != 2 || s.world.Len() != 0 {
		t.Fatalf("%+v %v", result, err)
	}
	want := []string{"create vpc", "create subnet", "delete subnet", "delete vpc"}
	if got := s.world.Calls(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestUndefinedVariableIsShownAsTheDocumentDoes(t *testing.T) {
	s := newSite(t, strings.Repeat("\n", 8)+"resource \"fake_thing\" \"web\" {\n  name = var.vpc_id\n}\n")
	_, _, err := s.plan(plan.Options{})
	var fault *diag.Error
	if !errors.As(err, &fault) {
		t.Fatal(err)
	}
	lines := strings.Split(err.Error(), "\n")
	want := []string{"Configuration error in " + filepath.Join(s.dir, "main.tf") + ":10",
		`  Undefined variable "vpc_id" referenced in resource "fake_thing.web"`,
		"  Hint: Define variable in variables.tf or pass with -var flag"}
	if !slices.Equal(lines[:3], want) {
		t.Errorf("%q, want %q", lines, want)
	}
}

func TestRefusedConstructsAreNamedWithTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"check \"a\" {}\n":                                                              "check blocks aren't supported",
		"terraform {\n  cloud {}\n}\n":                                                  "cloud blocks aren't supported",
		"resource \"a_b\" \"c\" {\n  provisioner \"x\" {}\n}\n":                         "provisioner blocks aren't supported",
		"terraform {\n  backend \"http\" {}\n  backend \"local\" {}\n}\n":               "there is a second backend",
		"terraform {\n  backend \"s3\" {}\n}\n":                                         `the backend "s3" isn't supported`,
		"module \"m\" {\n  source = \"hashicorp/consul/aws\"\n}\n":                      "isn't supported",
		"locals {\n  a = local.b\n  b = local.a\n}\noutput \"x\" { value = local.a }\n": "local.a -> local.b -> local.a",
	} {
		s := newSite(t, text)
		_, _, err := s.plan(plan.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestM4TransientFaultsAreTriedAgainLaterAndLater(t *testing.T) {
	s := newSite(t, `resource "fake_thing" "a" { name = "a" }`)
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		s.world.Fail = func(string, string) error {
			if at = append(at, time.Now()); len(at) <= 3 {
				return &provider.Fault{Summary: "busy", Code: 503}
			}
			return nil
		}
		policy := apply.DefaultPolicy()
		policy.Jitter = func() float64 { return 1 }
		if _, err := s.apply(plan.Options{}, apply.Options{Policy: policy}); err != nil {
			t.Fatal(err)
		}
		for i, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
			if got := at[i+1].Sub(at[i]); got != want {
				t.Errorf("after attempt %d it waited %s, want %s", i+1, got, want)
			}
		}
	})
	s.settled(t)
}

func TestM4WhatIsDoneBeforeAFailureIsKept(t *testing.T) {
	s := newSite(t, `
resource "fake_thing" "a" { name = "a" }
resource "fake_thing" "b" {
  name  = "b"
  links = [fake_thing.a.id]
}
`)
	s.world.Fail = func(_, name string) error {
		if name == "b" {
			return &provider.Fault{Summary: "no", Code: 403}
		}
		return nil
	}
	result, err := s.apply(plan.Options{}, apply.Options{})
	var fault *diag.Error
	if !errors.As(err, &fault) || fault.Category != diag.Partial || !slices.Equal(result.Succeeded,
		[]string{"fake_thing.a"}) {
		t.Fatalf("%+v %v", result, err)
	}
	s.world.Fail = nil
	_, p, err := s.plan(plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if add, change, destroy := p.Count(); add != 1 || change+destroy != 0 {
		t.Errorf("it plans to add %d, change %d and destroy %d", add, change, destroy)
	}
}

func TestWhatShowsLateIsWaitedFor(t *testing.T) {
	s := newSite(t, `resource "fake_thing" "a" { name = "a" }`)
	s.world.Hidden, s.world.Within = 3, 30*time.Second
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 7*time.Second { // 1 + 2 + 4
			t.Errorf("it took %s", took)
		}
	})
}

func TestM4BreakerOpensAndLetsOneTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b apply.Breaker
		busy := &provider.Fault{Summary: "busy", Code: 500}
		for range 5 {
			if err := b.Allow("p"); err != nil {
				t.Fatal(err)
			}
			b.Done(busy)
		}
		if b.Allow("p") == nil || b.State() != "OPEN" {
			t.Fatal("it is closed after five failures")
		}
		time.Sleep(time.Minute)
		if err := b.Allow("p"); err != nil || b.Allow("p") == nil {
			t.Fatal("not exactly one may try after a minute")
		}
		b.Done(nil)
		if b.State() != "CLOSED" {
			t.Error(b.State())
		}
	})
}

// TestPlanAfterApplyIsEmpty makes random configurations whose references have no circles, fails each apply
// at a random step, and applies again: then nothing is left to do, and everything came after what it needs.
func TestPlanAfterApplyIsEmpty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(rt, "things")
		var text strings.Builder
		needs := map[string][]string{}
		for i := range n {
			var links []string
			for j := range i {
				if rapid.Bool().Draw(rt, "link") {
					links = append(links, fmt.Sprintf("fake_thing.t%d.id", j))
					needs[fmt.Sprintf("t%d", i)] = append(needs[fmt.Sprintf("t%d", i)], fmt.Sprintf("t%d", j))
				}
			}
			fmt.Fprintf(&text, "resource \"fake_thing\" \"t%d\" {\n  name = \"t%d\"\n  links = [%s]\n}\n", i, i,
				strings.Join(links, ", "))
		}
		s := newSite(t, text.String())
		memory := &memoryStore{}
		s.options = func(o *engine.Options) { o.Store = memory }
		bad := fmt.Sprintf("t%d", rapid.IntRange(0, n-1).Draw(rt, "fails"))
		s.world.Fail = func(_, name string) error {
			if name == bad {
				return &provider.Fault{Summary: "no", Code: 400}
			}
			return nil
		}
		if _, err := s.apply(plan.Options{}, apply.Options{Continue: rapid.Bool().Draw(rt, "continue")}); err == nil {
			rt.Fatal("it doesn't fail")
		}
		s.world.Fail = nil
		if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
			rt.Fatal(err)
		}
		s.settled(t)
		seen := map[string]bool{}
		for _, call := range s.world.Calls() {
			name := strings.TrimPrefix(call, "create ")
			for _, d := range needs[name] {
				if !seen[d] {
					rt.Fatalf("%s was made before %s", name, d)
				}
			}
			if seen[name] {
				rt.Fatalf("%s was made twice", name)
			}
			seen[name] = true
		}
	})
}

func TestSavedPlanIsDoneOnlyIfItIsStillThePlan(t *testing.T) {
	s := newSite(t, `
variable "name" {
  type      = string
  sensitive = true
}
resource "fake_thing" "a" { name = var.name }
`)
	save := func() *engine.Saved {
		t.Helper()
		e, err := s.engine("name=first")
		if err != nil {
			t.Fatal(err)
		}
		p, err := e.Plan(context.Background(), plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return throughFile(t, p)
	}
	resume := func(saved *engine.Saved) error {
		e, err := s.engine() // whose variables are those of the plan
		if err != nil {
			return err
		}
		p, err := e.Replan(context.Background(), saved)
		if err == nil {
			_, err = e.Apply(context.Background(), p, apply.Options{})
		}
		return err
	}
	saved := save()
	if err := resume(saved); err != nil || !slices.Equal(s.world.Calls(), []string{"create first"}) {
		t.Fatalf("%v %q", err, s.world.Calls())
	}
	wantStale := func(err error) {
		t.Helper()
		var fault *diag.Error
		if !errors.As(err, &fault) || fault.Category != diag.Concurrency {
			t.Errorf("a stale plan: %v", err)
		}
	}
	wantStale(resume(saved)) // done already
	s.write(t, "more.tf", `resource "fake_thing" "b" { name = "second" }`)
	saved = save()
	s.write(t, "more.tf", `resource "fake_thing" "b" { name = "third" }`)
	wantStale(resume(saved))
	if s.world.Len() != 1 {
		t.Errorf("%q", s.world.Calls())
	}
}
