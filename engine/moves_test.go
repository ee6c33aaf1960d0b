package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/plan"
)

// step is a configuration that follows another, and what a plan of it does, as ACTION ADDRESS.
type step struct {
	files map[string]string
	want  []string
}

func thingBlock(name, more string) string {
	return fmt.Sprintf("resource \"fake_thing\" %q {\n  name = \"n\"\n%s}\n", name, more)
}

// What moved, removed and import blocks say, and what got or lost count, is followed without making anything anew.
func TestThingsAreFoundWhereTheyWentTo(t *testing.T) {
	inner := "variable \"n\" { default = \"n\" }\nresource \"fake_thing\" \"i\" { name = var.n }\n"
	moved := func(from, to string) string { return fmt.Sprintf("moved {\n  from = %s\n  to   = %s\n}\n", from, to) }
	main := func(text string) map[string]string { return map[string]string{"main.tf": text, "m/main.tf": inner} }
	call := func(name, more string) string {
		return fmt.Sprintf("module %q {\n  source = \"./m\"\n%s}\n", name, more)
	}
	for name, c := range map[string]struct {
		before map[string]string
		after  step
	}{
		"renamed": {main(thingBlock("a", "")), step{main(thingBlock("b", "") + moved("fake_thing.a", "fake_thing.b")),
			[]string{"no-op fake_thing.b from fake_thing.a"}}},
		"renamed twice, told backwards": {main(thingBlock("a", "")), step{main(thingBlock("c", "") +
			moved("fake_thing.b", "fake_thing.c") + moved("fake_thing.a", "fake_thing.b")),
			[]string{"no-op fake_thing.c from fake_thing.a"}}},
		"got count": {main(thingBlock("a", "")), step{main(thingBlock("a", "  count = 1\n")),
			[]string{"no-op fake_thing.a[0] from fake_thing.a"}}},
		"lost count": {main(thingBlock("a", "  count = 2\n")), step{main(thingBlock("a", "")),
			[]string{"no-op fake_thing.a from fake_thing.a[0]", "delete fake_thing.a[1]"}}},
		"from count to for_each": {main(thingBlock("a", "  count = 1\n")), step{main(thingBlock("a",
			"  for_each = toset([\"x\"])\n") + moved("fake_thing.a[0]", `fake_thing.a["x"]`)),
			[]string{`no-op fake_thing.a["x"] from fake_thing.a[0]`}}},
		"into a module": {main(thingBlock("a", "")), step{main(call("m", "") +
			moved("fake_thing.a", "module.m.fake_thing.i")),
			[]string{"no-op module.m.fake_thing.i from fake_thing.a"}}},
		"a module": {main(call("m", "")), step{main(call("k", "") + moved("module.m", "module.k")),
			[]string{"no-op module.k.fake_thing.i from module.m.fake_thing.i"}}},
		"a module got count": {main(call("m", "")), step{main(call("m", "  count = 1\n") + moved("module.m", "module.m[0]")),
			[]string{"no-op module.m[0].fake_thing.i from module.m.fake_thing.i"}}},
		"instances of a module": {main(call("m", "  count = 2\n")), step{main(call("k", "  count = 2\n") +
			moved("module.m", "module.k")), []string{"no-op module.k[0].fake_thing.i from module.m[0].fake_thing.i",
			"no-op module.k[1].fake_thing.i from module.m[1].fake_thing.i"}}},
		"within a module": {main(call("m", "")), step{map[string]string{"main.tf": call("m", ""),
			"m/main.tf": "resource \"fake_thing\" \"j\" { name = \"n\" }\n" + moved("fake_thing.i", "fake_thing.j")},
			[]string{"no-op module.m.fake_thing.j from module.m.fake_thing.i"}}},
		"another type": {main(thingBlock("a", "")), step{main("resource \"terraform_data\" \"b\" {}\n" +
			moved("fake_thing.a", "terraform_data.b")), []string{"create terraform_data.b", "delete fake_thing.a"}}},
		"taken out": {main(thingBlock("a", "") + call("m", "")), step{main(""),
			[]string{"delete fake_thing.a", "delete module.m.fake_thing.i"}}},
		"forgotten": {main(thingBlock("a", "")), step{main("removed {\n  from = fake_thing.a\n  lifecycle {\n" +
			"    destroy = false\n  }\n}\n"), []string{"forget fake_thing.a"}}},
		"removed": {main(thingBlock("a", "")), step{main("removed {\n  from = fake_thing.a\n}\n"),
			[]string{"delete fake_thing.a"}}},
		"a forgotten module": {main(call("m", "  count = 2\n")), step{main("removed {\n  from = module.m\n  lifecycle {\n" +
			"    destroy = false\n  }\n}\n"), []string{"forget module.m[0].fake_thing.i", "forget module.m[1].fake_thing.i"}}},
		"imported": {main(""), step{main(thingBlock("a", "") + "import {\n  to = fake_thing.a\n  id = \"thing-1\"\n}\n"),
			[]string{"no-op fake_thing.a"}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, "")
			if name == "imported" { // of an object that another state has
				s.makeElsewhere(t)
			}
			for file, text := range c.before {
				s.write(t, file, text)
			}
			if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
				t.Fatal(err)
			}
			for file, text := range c.after.files {
				s.write(t, file, text)
			}
			_, p, err := s.plan(plan.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, ch := range p.Changes {
				line := string(ch.Action) + " " + ch.Address.String()
				if ch.Moved != "" {
					line += " from " + ch.Moved
				}
				got = append(got, line)
			}
			slices.Sort(got)
			slices.Sort(c.after.want)
			if !slices.Equal(got, c.after.want) {
				t.Errorf("it plans %q, want %q", got, c.after.want)
			}
			had := s.world.Len()
			if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
				t.Fatal(err)
			}
			s.settled(t)
			if strings.Contains(name, "forgotten") && s.world.Len() != had {
				t.Errorf("of %d objects there are %d", had, s.world.Len())
			}
		})
	}
}

// What can't be imported is said.
func TestImportsThatCanNotBeAreSaid(t *testing.T) {
	for text, want := range map[string]string{
		thingBlock("a", "") + "import {\n  to = fake_thing.a\n  id = \"none\"\n}\n":                              "there is no fake_thing none",
		"import {\n  to = fake_thing.a\n  id = \"x\"\n}\n":                                                       "no block in the configuration",
		thingBlock("a", "") + "import {\n  to = fake_thing.a\n  id = fake_thing.b.id\n}\n" + thingBlock("b", ""): "isn't known",
	} {
		s := newSite(t, text)
		if _, _, err := s.plan(plan.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	s := newSite(t, "")
	to, err := addr.Parse("module.none.fake_thing.a")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = s.plan(plan.Options{Imports: []plan.Import{{To: to, ID: "1"}}})
	if err == nil || !strings.Contains(err.Error(), "no such module") {
		t.Errorf("into a module that isn't there: %v", err)
	}
}

// replace_triggered_by, create_before_destroy, prevent_destroy and conditions do what they say.
func TestLifecyclesAreFollowed(t *testing.T) {
	text := func(size int, protect bool) string {
		return fmt.Sprintf("resource \"fake_thing\" \"a\" {\n  name = \"a\"\n  size = %d\n  lifecycle {\n    prevent_destroy = %v\n"+
			"    precondition {\n      condition     = %d < 9\n      error_message = \"too large\"\n    }\n"+
			"    postcondition {\n      condition     = self.size != 7\n      error_message = \"no sevens\"\n    }\n  }\n}\n"+
			"resource \"fake_thing\" \"b\" {\n  name = \"b\"\n  lifecycle {\n    create_before_destroy = true\n"+
			"    replace_triggered_by  = [fake_thing.a.size]\n  }\n}\n", size, protect, size)
	}
	s := newSite(t, text(1, true))
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	s.write(t, "main.tf", text(2, true))
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	calls := s.world.Calls()
	if got := calls[2:]; !slices.Equal(got, []string{"update a", "create b", "delete b"}) {
		t.Errorf("it did %q", got)
	}
	for size, want := range map[int]string{9: "too large", 7: "no sevens"} {
		s.write(t, "main.tf", text(size, true))
		if _, _, err := s.plan(plan.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v, want %q", size, err, want)
		}
	}
	s.write(t, "main.tf", text(2, true))
	if _, _, err := s.plan(plan.Options{Destroy: true}); err == nil || !strings.Contains(err.Error(), "prevent_destroy") {
		t.Errorf("what is protected would be destroyed: %v", err)
	}
	target, err := addr.Parse("fake_thing.a")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = s.plan(plan.Options{Replace: []addr.Resource{target}})
	if err == nil || !strings.Contains(err.Error(), "prevent_destroy") {
		t.Errorf("what is protected would be replaced: %v", err)
	}
	s.write(t, "main.tf", text(2, false))
	if _, p, err := s.plan(plan.Options{Replace: []addr.Resource{target}}); err != nil || p.Changes[0].Reason !=
		"replaced on request" {
		t.Errorf("%v", err)
	}
}

// What is created first has all that it depends on created first, also through a module's outputs and variables, so
// that both can be replaced at once.
func TestCreateFirstGoesThroughModules(t *testing.T) {
	text := func(n string) string {
		return "module \"m\" {\n  source = \"./m\"\n  above  = fake_thing.above.id\n  n      = \"in" + n + "\"\n}\n" +
			"resource \"fake_thing\" \"above\" { name = \"above" + n + "\" }\n" +
			"resource \"fake_thing\" \"first\" {\n  name  = \"first" + n + "\"\n  links = [module.m.id]\n" +
			"  lifecycle {\n    create_before_destroy = true\n  }\n}\n"
	}
	s := newSite(t, text("1"))
	s.write(t, "m/main.tf", "variable \"above\" {}\nvariable \"n\" {}\nlocals {\n  links = [var.above]\n}\n"+
		"resource \"fake_thing\" \"in\" {\n  name  = var.n\n  links = local.links\n}\n"+
		"output \"id\" { value = fake_thing.in.id }\n")
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	s.write(t, "main.tf", text("2"))
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	want := []string{"create above2", "create in2", "create first2", "delete first1", "delete in1", "delete above1"}
	if got := s.world.Calls()[3:]; !slices.Equal(got, want) {
		t.Errorf("it did %q, want %q", got, want)
	}
	s.settled(t)
}
