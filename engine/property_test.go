package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/statefile"
)

// memoryStore keeps a state in memory, where no disk is waited for.
type memoryStore struct{ state *statefile.File }

func (m *memoryStore) Read(context.Context) (*statefile.File, error) {
	if m.state == nil {
		return nil, nil
	}
	return m.state.Clone(), nil
}

func (m *memoryStore) Write(_ context.Context, f *statefile.File) error {
	m.state = f.Clone()
	return nil
}

func (*memoryStore) Lock(context.Context, statefile.LockInfo) (func(context.Context) error, error) {
	return func(context.Context) error { return nil }, nil
}

func (*memoryStore) ForceUnlock(context.Context, string) error { return nil }

// configuration draws a configuration: resources with count, for_each and neither, whose values go through
// locals, conditionals and for expressions to those before them, and outputs. What is odd is in a module.
func configuration(rt *rapid.T, label string) map[string]string {
	var root, module strings.Builder
	var refs []string // expressions that are lists of IDs
	n := rapid.IntRange(1, 6).Draw(rt, label+" blocks")
	for i := range n {
		links := "[]"
		if len(refs) > 0 && rapid.Bool().Draw(rt, label+" links") {
			links = rapid.SampledFrom(refs).Draw(rt, label+" ref")
		}
		fmt.Fprintf(&root, "locals {\n  l%d = [for x in %s : x]\n}\n", i, links)
		size := rapid.IntRange(0, 3).Draw(rt, label+" size")
		life := ""
		if rapid.Bool().Draw(rt, label+" first") {
			life = "  lifecycle {\n    create_before_destroy = true\n  }\n"
		}
		switch kind := rapid.SampledFrom([]string{"one", "count", "each", "module"}).Draw(rt, label+" kind"); kind {
		case "count":
			fmt.Fprintf(&root, "resource \"fake_thing\" \"r%d\" {\n  count = %d\n  name = \"c%d-${count.index}\"\n  links = local.l%d\n%s}\n",
				i, size, i, i, life)
			refs = append(refs, fmt.Sprintf("fake_thing.r%d[*].id", i))
		case "each":
			fmt.Fprintf(&root, "resource \"fake_thing\" \"r%d\" {\n  for_each = toset([for i in range(%d) : \"k${i}\"])\n"+
				"  name = each.key\n  size = %d\n  links = local.l%d\n%s}\n", i, size, size, i, life)
			refs = append(refs, fmt.Sprintf("[for k, v in fake_thing.r%d : v.id]", i))
		case "module":
			fmt.Fprintf(&root, "module \"m%d\" {\n  source = \"./m\"\n  name = %d > 1 ? \"large\" : \"small\"\n  links = local.l%d\n}\n",
				i, size, i)
			refs = append(refs, fmt.Sprintf("module.m%d.ids", i))
		default:
			fmt.Fprintf(&root, "resource \"fake_thing\" \"r%d\" {\n  name = \"one-%d\"\n  size = %d\n  links = local.l%d\n%s}\n", i,
				rapid.IntRange(0, 1).Draw(rt, label+" name"), size, i, life)
			refs = append(refs, fmt.Sprintf("[fake_thing.r%d.id]", i))
		}
	}
	fmt.Fprintf(&root, "output \"all\" { value = %s }\n", refs[len(refs)-1])
	module.WriteString("variable \"name\" {}\nvariable \"links\" { type = list(string) }\n" +
		"resource \"fake_thing\" \"in\" {\n  name = var.name\n  links = var.links\n}\noutput \"ids\" { value = [fake_thing.in.id] }\n")
	return map[string]string{"main.tf": root.String(), "m/main.tf": module.String()}
}

// TestRandomConfigurations applies one after another, each time with the store or a provider failing at some step,
// as a process that is killed there would leave it. Applying again always comes to where nothing is left to do,
// and destroying to where nothing is recorded.
func TestRandomConfigurations(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newSite(t, "")
		memory := &memoryStore{}
		for round := range 2 {
			for name, text := range configuration(rt, fmt.Sprint(round)) {
				s.write(t, name, text)
			}
			left := rapid.IntRange(0, 5).Draw(rt, "writes before it is killed")
			s.options = func(o *engine.Options) {
				o.Store = &failing{Store: memory, left: left}
			}
			_, _ = s.apply(plan.Options{}, apply.Options{}) // may be killed
			s.options = func(o *engine.Options) { o.Store = memory }
			if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
				rt.Fatal(err)
			}
			_, p, err := s.plan(plan.Options{})
			if err != nil || !p.Empty() {
				var b strings.Builder
				_ = p.Show(&b, plan.Colours{})
				rt.Fatalf("there is something to do after an apply: %v\n%s", err, &b)
			}
		}
		if _, err := s.apply(plan.Options{Destroy: true}, apply.Options{}); err != nil {
			rt.Fatal(err)
		}
		e, err := s.engine()
		if err != nil {
			rt.Fatal(err)
		}
		if state, err := e.Store.Read(t.Context()); err != nil || len(state.Resources) != 0 {
			rt.Fatalf("after all is destroyed there is %+v, %v", state, err)
		}
	})
}

// TestFaultAtEveryCall fails each single call of the provider in turn, of whatever kind. That is always an error,
// never a panic, and the next apply comes to its end with each object made once that was made at all.
func TestFaultAtEveryCall(t *testing.T) {
	for at := int64(1); ; at++ {
		s := newSite(t, `
resource "fake_thing" "a" { name = "a" }
resource "fake_thing" "b" {
  count = 2
  name  = "b${count.index}"
  links = [fake_thing.a.id]
}
`)
		var calls atomic.Int64
		var failed atomic.Bool
		s.world.Called = func(call string) error {
			if calls.Add(1) != at {
				return nil
			}
			failed.Store(true)
			return &provider.Fault{Summary: "no " + call, Code: 400}
		}
		_, err := s.apply(plan.Options{}, apply.Options{})
		if !failed.Load() {
			if err != nil || at < 10 {
				t.Errorf("without a fault, of %d calls: %v", at, err)
			}
			return
		}
		if err == nil || !strings.Contains(err.Error(), "no ") {
			t.Fatalf("call %d failed, and the apply says %v", at, err)
		}
		s.world.Called = nil
		if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
			t.Fatalf("after a fault at call %d: %v", at, err)
		}
		s.settled(t)
		if n := s.world.Len(); n != 3 {
			t.Fatalf("after a fault at call %d there are %d objects: %q", at, n, s.world.Calls())
		}
	}
}
