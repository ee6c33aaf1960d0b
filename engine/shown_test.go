package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/provider/recorded"
)

// Each thing that a plan does has its sign, with what moved, why, and what was changed outside; JSON has the same.
func TestEveryActionIsShown(t *testing.T) {
	s := newSite(t, `
resource "fake_thing" "replaced" { name = "replaced" }
resource "fake_thing" "first" { name = "first" }
resource "fake_thing" "before" { name = "moved" }
resource "fake_thing" "forgotten" { name = "forgotten" }
resource "fake_thing" "gone" { name = "gone" }
resource "fake_thing" "drifted" { name = "drifted" }
resource "fake_thing" "lost" { name = "lost" }
`)
	if _, err := s.apply(plan.Options{}, apply.Options{Parallelism: 1}); err != nil {
		t.Fatal(err)
	}
	for address, id := range ids(t, s) {
		switch address {
		case "fake_thing.drifted":
			s.world.Change(id, "size", cty.NumberIntVal(7))
		case "fake_thing.lost":
			s.world.Lose(id)
		}
	}
	s.write(t, "main.tf", `
resource "fake_thing" "replaced" { name = "other" }
resource "fake_thing" "first" {
  name = "another"
  lifecycle { create_before_destroy = true }
}
resource "fake_thing" "after" { name = "moved" }
moved {
  from = fake_thing.before
  to   = fake_thing.after
}
removed {
  from = fake_thing.forgotten
  lifecycle { destroy = false }
}
resource "fake_thing" "drifted" { name = "drifted" }
resource "fake_thing" "lost" { name = "lost" }
`)
	_, p, err := s.plan(plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	said := show(t, p, plan.Colours{})
	for _, want := range []string{"-/+ fake_thing.replaced", "+/- fake_thing.first", ". fake_thing.forgotten",
		"- fake_thing.gone", "fake_thing.after (moved from fake_thing.before)", "(replaces)", "~ fake_thing.drifted",
		"+ fake_thing.lost", "fake_thing.drifted was changed outside", "fake_thing.lost was deleted outside"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q isn't shown in:\n%s", want, said)
		}
	}
	text, err := p.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Drift   []struct{ Address string } `json:"resource_drift"`
		Changes []struct {
			Address  string
			Previous string `json:"previous_address"`
			Change   struct {
				Actions []string
				Paths   [][]any `json:"replace_paths"`
			}
		} `json:"resource_changes"`
	}
	if err := json.Unmarshal(text, &d); err != nil || len(d.Drift) != 2 {
		t.Errorf("%v, drift %+v", err, d.Drift)
	}
	for _, c := range d.Changes {
		replaced := c.Address == "fake_thing.replaced" || c.Address == "fake_thing.first"
		if replaced != (len(c.Change.Paths) == 1 && c.Change.Paths[0][0] == "name") ||
			(c.Address == "fake_thing.after") != (c.Previous == "fake_thing.before") {
			t.Errorf("%+v", c)
		}
	}
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	s.settled(t)
}

// ids are those of the recorded objects, by address.
func ids(t *testing.T, s *site) map[string]string {
	t.Helper()
	state := stateOf(t, s)
	all := map[string]string{}
	for i := range state.Resources {
		r := &state.Resources[i]
		address, err := r.Address()
		if err != nil {
			t.Fatal(err)
		}
		var o struct{ ID string }
		if err := json.Unmarshal(r.Instances[0].Attributes, &o); err != nil {
			t.Fatal(err)
		}
		all[address.String()] = o.ID
	}
	return all
}

// Variables of modules are converted, checked and kept secret as those of the root are; a module can be waited for.
func TestModulesVariablesAndOrder(t *testing.T) {
	s := newSite(t, `
module "first" {
  source = "./first"
  size   = "3"
  label  = null
}
module "second" {
  source     = "./second"
  depends_on = [module.first]
}
output "label" { value = module.first.label }
output "secret" {
  value     = module.first.secret
  sensitive = true
}
`)
	s.write(t, "first/main.tf", `
variable "size" {
  type = number
  validation {
    condition     = var.size < 5
    error_message = "It is too large."
  }
}
variable "label" {
  type     = string
  nullable = false
  default  = "none"
}
module "deep" { source = "../second" }
resource "fake_thing" "first" {
  name = "first"
  size = var.size
}
output "label" { value = var.label }
output "secret" {
  value      = "hush"
  sensitive  = true
  depends_on = [fake_thing.first]
}
`)
	s.write(t, "second/main.tf", "resource \"fake_thing\" \"second\" {\n  name = \"second ${path.module}\"\n}\n")
	result, err := s.apply(plan.Options{}, apply.Options{})
	if err != nil {
		t.Fatal(err)
	}
	calls := s.world.Calls()
	if len(calls) != 3 || calls[2] != "create second second" {
		t.Errorf("%q", calls)
	}
	if out := result.State.Outputs; string(out["label"].Value) != `"none"` || !out["secret"].Sensitive {
		t.Errorf("%+v", out)
	}
	s.settled(t)
	root, err := os.ReadFile(filepath.Join(s.dir, "main.tf"))
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string][2]string{
		`size   = "3"`:     {`size = "9"`, "It is too large."},
		`  size   = "3"`:   {"", "size"},
		`  label  = null`:  {"  none = 1", "none"},
		`sensitive = true`: {"", "sensitive"},
		`[module.first]`:   {"[module.third]", "third"},
	} {
		s.write(t, "main.tf", strings.Replace(string(root), from, to[0], 1))
		if _, _, err := s.plan(plan.Options{}); err == nil || !strings.Contains(err.Error(), to[1]) {
			t.Errorf("%q instead of %q: %v", to[0], from, err)
		}
	}
	s.write(t, "main.tf", strings.Replace(string(root), `"3"`, `"many"`, 1))
	if _, _, err := s.plan(plan.Options{}); err == nil || !strings.Contains(err.Error(), "number") {
		t.Error(err)
	}
}

// Data sources, imports and faults are recorded as well, and answered again.
func TestRecordingHasDataImportsAndFaults(t *testing.T) {
	_, world := newShapeSite(t, "")
	ctx := t.Context()
	data := func(p provider.Provider) (string, error) {
		schemas, err := p.Schemas(ctx)
		if err != nil {
			return "", err
		}
		all := schemas.Of(provider.Data, "shape_all").Empty().AsValueMap()
		all["name"] = cty.StringVal("d")
		v, err := p.ReadData(ctx, "shape_all", cty.ObjectVal(all))
		if err != nil {
			return "", err
		}
		_, missing := p.Import(ctx, "shape_all", "none")
		return v.GetAttr("id").AsString() + ", " + missing.Error(), p.Stop(ctx)
	}
	var recording bytes.Buffer
	live := func(context.Context) (provider.Provider, error) { return world, nil }
	var said []string
	for range 2 {
		factory := recorded.NewRecording(&recording).Record(live)
		if len(said) == 1 {
			replayed, err := recorded.Replay(strings.NewReader(recording.String()))
			if err != nil {
				t.Fatal(err)
			}
			factory = replayed
		}
		p, err := factory(ctx)
		if err != nil {
			t.Fatal(err)
		}
		text, err := data(p)
		if err != nil {
			t.Fatal(err)
		}
		if said = append(said, text); p.Close() != nil {
			t.Error("it can't be closed")
		}
	}
	if said[0] != said[1] || said[0] != "data of d, there is no shape_all none" {
		t.Errorf("%q", said)
	}
}

// What the mirrors don't have, or have otherwise than it was locked, is said before anything is planned.
func TestProvidersThatAreNotInstalledAreSaid(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("main.tf", "resource \"cloud_thing\" \"a\" {}\n")
	planned := func() error {
		e, err := engine.New(engine.Options{Dir: dir, Mirrors: []string{t.TempDir()}})
		if err == nil {
			_, err = e.Plan(t.Context(), plan.Options{})
		}
		return err
	}
	if err := planned(); err == nil || !strings.Contains(err.Error(), "isn't installed") {
		t.Error(err)
	}
	put(".terraform.lock.hcl", "provider \""+addr.DefaultHost+"/hashicorp/cloud\" {\n  version = \"1.0.0\"\n}\n")
	if err := planned(); err == nil || !strings.Contains(err.Error(), "isn't in any mirror") {
		t.Error(err)
	}
	put(".terraform.lock.hcl", "provider {")
	if err := planned(); err == nil {
		t.Error("a lock file that can't be read is passed over")
	}
	put(".terraform.lock.hcl", "")
	if err := os.MkdirAll(filepath.Join(dir, ".terraform"), 0o700); err != nil {
		t.Fatal(err)
	}
	put(".terraform/environment", "../other")
	if err := planned(); err == nil || !strings.Contains(err.Error(), "workspace") {
		t.Error(err)
	}
}
