package engine_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/eval"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/statefile"
)

// The plan of a configuration that has nothing says that there is nothing to do.
func TestM0PlanRuns(t *testing.T) {
	_, p, err := newSite(t, "").plan(plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	if err := p.Show(&said, plan.Colours{}); err != nil || !p.Empty() || !strings.Contains(said.String(), "No changes") {
		t.Errorf("%v: %s", err, &said)
	}
}

// A state that is made in Go is written in version 4 of the format, indented by two, and read as what it was.
func TestM0ModelsRoundTrip(t *testing.T) {
	vm, err := addr.Parse(`module.site["a"].mock_instance.vm[0]`)
	if err != nil {
		t.Fatal(err)
	}
	again, err := addr.Parse(vm.String())
	if err != nil || !reflect.DeepEqual(again, vm) {
		t.Errorf("%v is read as %v, %v", vm, again, err)
	}
	made := statefile.New()
	made.Set(vm, `module.site.provider["registry.terraform.io/acme/mock"]`, statefile.Instance{SchemaVersion: 2,
		Attributes: json.RawMessage(`{"id":"mock-1","size":"large"}`), Dependencies: []string{"mock_network.net"}})
	made.Outputs = map[string]statefile.Output{"size": {Value: json.RawMessage(`"large"`),
		Type: json.RawMessage(`"string"`)}}
	text, err := made.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	read, err := statefile.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	rewritten, err := read.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(text), string(rewritten)); d != "" {
		t.Errorf("it changes when it is read and written (- before, + after):\n%s", d)
	}
	if _, in := read.Find(vm, ""); in == nil || in.SchemaVersion != 2 ||
		!strings.Contains(string(text), "\n  \"serial\": ") {
		t.Errorf("%s", text)
	}
}

// A plan goes through its file and JSON without a loss: what is read from there gives the same plan.
func TestM0PlansRoundTrip(t *testing.T) {
	s := newSite(t, "variable \"size\" {\n  type = number\n}\n"+
		"resource \"fake_thing\" \"a\" {\n  name = \"a\"\n  size = var.size\n}\n")
	e, err := s.engine("size=3")
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.Plan(t.Context(), plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	saved := throughFile(t, p)
	before, err := p.JSON()
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.engine("size=4") // what the plan was made with counts
	if err != nil {
		t.Fatal(err)
	}
	again, err := other.Replan(t.Context(), saved)
	if err != nil {
		t.Fatal(err)
	}
	after, err := again.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(before), string(after)); d != "" {
		t.Errorf("the plan changes on its way (- before, + after):\n%s", d)
	}
}

// The configuration of the document has exactly one resource, with these attributes; the command line overrides one.
func TestM1FindsTheResourceOfTheDocument(t *testing.T) {
	s := newSite(t, `variable "instance_type" {
  default = "t2.micro"
}

resource "aws_instance" "web" {
  instance_type = var.instance_type
  ami           = "ami-123456"
}
`)
	for _, c := range []struct {
		vars []string
		want map[string]string
	}{
		{nil, map[string]string{"instance_type": "t2.micro", "ami": "ami-123456"}},
		{[]string{"instance_type=t3.large"}, map[string]string{"instance_type": "t3.large", "ami": "ami-123456"}},
	} {
		root, err := config.Load(s.dir)
		if err != nil {
			t.Fatal(err)
		}
		inputs, err := config.Inputs{Vars: c.vars}.Values(root)
		if err != nil {
			t.Fatal(err)
		}
		all := root.SortedResources()
		if len(all) != 1 || all[0].Address(nil, nil).String() != "aws_instance.web" {
			t.Fatalf("%v", all)
		}
		attributes, problems := all[0].Body.JustAttributes()
		if problems.HasErrors() {
			t.Fatal(problems)
		}
		got := map[string]string{}
		for name, a := range attributes {
			v, err := eval.New(root, inputs, nil).RootScope().Eval(a.Expr, eval.Repeat{}, all[0].Construct())
			if err != nil {
				t.Fatal(err)
			}
			got[name] = v.AsString()
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%v (- want, + got):\n%s", c.vars, d)
		}
	}
}
