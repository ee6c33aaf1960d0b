package engine_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/provider"
)

// The milestones of the document that the engine goes back to, by their names. What a milestone wants beyond
// these has tests of its own, beside what it is about.

func TestM1ParsesOneResourceAndTheCommandLineWins(t *testing.T) {
	s := newSite(t, "variable \"type\" {\n  default = \"t2.micro\"\n}\n"+
		"resource \"fake_thing\" \"web\" {\n  name = \"${var.type}/ami-123456\"\n}\n")
	s.write(t, "terraform.tfvars", "type = \"from a file\"\n")
	e, err := s.engine("type=t3.large")
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.Plan(t.Context(), plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Changes) != 1 || p.Changes[0].Address.String() != "fake_thing.web" ||
		p.Changes[0].After.GetAttr("name").AsString() != "t3.large/ami-123456" {
		t.Errorf("%+v", p.Changes)
	}
}

// wrong is a configuration that can't be planned, and what is said of it.
type wrong struct {
	files    map[string]string
	category diag.Category
	want     []string
}

func wrongOnes() map[string]wrong {
	thing := func(body string) map[string]string { return map[string]string{"main.tf": body} }
	return map[string]wrong{
		"bad syntax": {thing("resource \"fake_thing\" \"a\" {\n  name =\n}\n"), diag.Configuration, []string{"main.tf:2"}},
		"missing variable": {thing("resource \"fake_thing\" \"a\" {\n  name = var.vpc_id\n}\n"), diag.Configuration,
			[]string{"main.tf:2", `Undefined variable "vpc_id"`, "Hint"}},
		"circular module": {map[string]string{"main.tf": "module \"a\" {\n  source = \"./a\"\n}\n",
			"a/main.tf": "module \"b\" {\n  source = \"../a\"\n}\n"}, diag.Cycle, []string{" -> "}},
		"module path": {thing("module \"a\" {\n  source = \"./none\"\n}\n"), diag.Configuration,
			[]string{"main.tf:1", "none", "it is looked for at"}},
		"cycle of three": {thing("resource \"fake_thing\" \"a\" {\n  name = fake_thing.b.id\n}\n" +
			"resource \"fake_thing\" \"b\" {\n  name = fake_thing.c.id\n}\n" +
			"resource \"fake_thing\" \"c\" {\n  name = fake_thing.a.id\n}\n"), diag.Cycle,
			[]string{"fake_thing.a -> fake_thing.b -> fake_thing.c -> fake_thing.a"}},
		"provider not found": {thing("resource \"cloud_thing\" \"a\" {}\n"), diag.Configuration,
			[]string{"cloud", "isn't installed", "engine init"}},
		"count that isn't known": {thing("resource \"fake_thing\" \"a\" {\n  name = \"a\"\n}\n" +
			"resource \"fake_thing\" \"b\" {\n  count = length(fake_thing.a.id)\n  name = \"b\"\n}\n"), diag.Configuration,
			[]string{"main.tf:5", "count"}},
		"count that is no number": {thing("resource \"fake_thing\" \"b\" {\n  count = \"many\"\n  name = \"b\"\n}\n"),
			diag.Configuration, []string{"main.tf:2", "count"}},
	}
}

// Each symptom of a configuration is said with its place, and with what helps.
func TestSymptomsOfConfigurationsAreSaid(t *testing.T) {
	for name, w := range wrongOnes() {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, "")
			for file, text := range w.files {
				s.write(t, file, text)
			}
			_, _, err := s.plan(plan.Options{})
			var fault *diag.Error
			if !errors.As(err, &fault) {
				t.Fatalf("%v", err)
			}
			for _, want := range w.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v doesn't say %q", err, want)
				}
			}
			if fault.Category != w.category {
				t.Errorf("%v is of %s, want %s", err, fault.Category, w.category)
			}
		})
	}
}

func TestM2RepeatedPlansAreTheSameAndLeaveNothing(t *testing.T) {
	s := newSite(t, things(5))
	var first string
	for range 3 {
		_, p, err := s.plan(plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := p.Show(&b, plan.Colours{}); err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = b.String()
		}
		if b.String() != first {
			t.Errorf("the order isn't stable:\n%s\n%s", first, &b)
		}
	}
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "main.tf" && e.Name() != "terraform.tfstate" {
			t.Errorf("%s is left behind", e.Name())
		}
	}
}

// The plan shows two objects to create, the subnet behind the network it is in, and the state has both with their IDs.
func TestM3ShowsASubnetBehindItsNetwork(t *testing.T) {
	s := newSite(t, network)
	e, p, err := s.plan(plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	if err := p.Show(&said, plan.Colours{}); err != nil {
		t.Fatal(err)
	}
	vpc, subnet := strings.Index(said.String(), "+ fake_thing.vpc"), strings.Index(said.String(), "+ fake_thing.subnet")
	if vpc < 0 || subnet < vpc || !strings.Contains(said.String(), "Plan: 2 to add, 0 to change, 0 to destroy.") {
		t.Errorf("%s", &said)
	}
	result, err := e.Apply(t.Context(), p, apply.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, id := range map[string]string{"vpc": "thing-1", "subnet": "thing-2"} {
		_, in := result.State.Find(addr.Resource{Type: "fake_thing", Name: name}, "")
		if in == nil || !strings.Contains(string(in.Attributes), `"`+id+`"`) {
			t.Errorf("%s is recorded as %+v", name, in)
		}
	}
}

func TestM3ReplacementIsDeletedAndCreatedInOrder(t *testing.T) {
	text := "resource \"fake_thing\" \"vpc\" { name = \"%s\" }\n" +
		"resource \"fake_thing\" \"subnet\" {\n  name = \"subnet\"\n  links = [fake_thing.vpc.id]\n}\n"
	s := newSite(t, fmt.Sprintf(text, "vpc"))
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	s.write(t, "main.tf", fmt.Sprintf(text, "other"))
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	want := []string{"create vpc", "create subnet", "delete vpc", "create other", "update subnet"}
	if got := s.world.Calls(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	s.settled(t)
}

func TestM4CredentialsThatAreWrongGiveAMessage(t *testing.T) {
	s := newSite(t, things(1))
	s.world.Called = func(call string) error {
		if call == "configure" {
			return &provider.Fault{Summary: "the credentials are refused", Code: 401}
		}
		return nil
	}
	_, _, err := s.plan(plan.Options{})
	if err == nil || !strings.Contains(err.Error(), "the credentials are refused") ||
		strings.Contains(err.Error(), "goroutine") {
		t.Error(err)
	}
}

func TestM4bNothingIsDeletedThatWasNotTakenOut(t *testing.T) {
	s := newSite(t, things(4))
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	s.write(t, "main.tf", things(3))
	target, err := addr.Parse("fake_thing.t1")
	if err != nil {
		t.Fatal(err)
	}
	_, p, err := s.plan(plan.Options{Targets: []addr.Resource{target}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, destroy := p.Count(); destroy != 0 {
		t.Errorf("with another target %d are destroyed", destroy)
	}
	_, p, err = s.plan(plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if add, change, destroy := p.Count(); add+change != 0 || destroy != 1 {
		t.Errorf("%d %d %d", add, change, destroy)
	}
}

func TestDamagedStateStopsThePlan(t *testing.T) {
	s := newSite(t, things(1))
	s.write(t, "terraform.tfstate", `{"version": 4`)
	_, _, err := s.plan(plan.Options{})
	var fault *diag.Error
	if !errors.As(err, &fault) || fault.Category != diag.State || !strings.Contains(err.Error(),
		filepath.Join(s.dir, "terraform.tfstate")) {
		t.Error(err)
	}
}

// What a configuration refers to and doesn't have is found without values, providers and a plan.
func TestReferencesToNothingAreFoundWithoutAPlan(t *testing.T) {
	for text, want := range map[string]string{
		"variable \"v\" {}\nresource \"cloud_thing\" \"a\" {\n  name = var.v\n  dynamic \"x\" {\n    for_each = local.l\n" +
			"    content { y = x.value }\n  }\n}\nlocals { l = [1] }\noutput \"o\" { value = cloud_thing.a.id }\n": "",
		"resource \"cloud_thing\" \"a\" {\n  name = \"${var.vpc_id}\"\n}\n": `Undefined variable "vpc_id" referenced in resource "cloud_thing.a"`,
		"resource \"cloud_thing\" \"a\" {\n  x { y = local.n }\n}\n":        `Undefined local value "n" referenced in resource`,
		"resource \"cloud_thing\" \"a\" {\n  count = var.n\n}\n":            `Undefined variable "n" referenced in resource`,
		"locals { a = var.n }\n":                               `Undefined variable "n" referenced in local "a"`,
		"output \"o\" { value = var.n }\n":                     `Undefined variable "n" referenced in output "o"`,
		"provider \"cloud\" { region = var.n }\n":              `Undefined variable "n" referenced in provider "cloud"`,
		"module \"m\" {\n  source = \"./m\"\n  v = var.n\n}\n": `Undefined variable "n" referenced in module "m"`,
		"module \"m\" { source = \"./n\" }\n":                  `Undefined local value "gone" referenced in output "o"`,
	} {
		s := newSite(t, text)
		s.write(t, "m/main.tf", "variable \"v\" {}\n")
		s.write(t, "n/main.tf", "output \"o\" { value = local.gone }\n")
		root, err := config.Load(s.dir)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		switch err := plan.CheckReferences(root); {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "main.tf:")):
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
