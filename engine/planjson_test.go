package engine_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/plan"
)

// TestPlanAsJSONHasAllMembers wants the members that readers of show -json use. That they are what the clients show is
// held by the tests with the real clients.
func TestPlanAsJSONHasAllMembers(t *testing.T) {
	s := newSite(t, `
variable "size" {
  type        = number
  description = "How large"
}
variable "any" { default = "x" }
resource "fake_thing" "a" {
  count = 2
  name  = "a${count.index}"
  size  = var.size
}
module "none" {
  source   = "./inner"
  for_each = toset([])
  name     = "inner"
}
output "ids" { value = fake_thing.a[*].id }
output "size" {
  value       = var.size
  description = "As given"
}
`)
	s.write(t, "inner/main.tf", `
variable "name" { type = string }
resource "fake_thing" "b" {
  name       = var.name
  depends_on = [fake_thing.c]
}
resource "fake_thing" "c" { name = "c" }
`)
	s.write(t, "terraform.tfvars", "size = 3\n")
	var shown map[string]any
	read := func() {
		t.Helper()
		_, p, err := s.plan(plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		text, err := p.JSON()
		if err != nil {
			t.Fatal(err)
		}
		shown = nil
		if err := json.Unmarshal(text, &shown); err != nil {
			t.Fatal(err)
		}
	}
	at := func(path ...any) any {
		var v any = shown
		for _, step := range path {
			switch step := step.(type) {
			case string:
				v = v.(map[string]any)[step]
			case int:
				v = v.([]any)[step]
			}
		}
		return v
	}
	want := func(want string, path ...any) {
		t.Helper()
		var v any
		if err := json.Unmarshal([]byte(want), &v); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(v, at(path...)); d != "" {
			t.Errorf("%v (- want, + got):\n%s", path, d)
		}
	}
	read()
	want(`{"size": {"value": 3}, "any": {"value": "x"}}`, "variables")
	want(`{"links": null, "name": "a1", "size": 3}`, "planned_values", "root_module", "resources", 1, "values")
	want(`{"ids": {"sensitive": false}, "size": {"sensitive": false, "type": "number", "value": 3}}`,
		"planned_values", "outputs")
	want(`{"size": {"sensitive": false, "type": "number", "value": 3}}`, "prior_state", "values", "outputs")
	want(`{"expression": {"references": ["var.size"]}, "description": "As given"}`, "configuration", "root_module",
		"outputs", "size")
	want(`{"size": {"type": "number", "required": true, "description": "How large"}, "any": {"default": "x"}}`,
		"configuration", "root_module", "variables")
	want(`{"address": "fake_thing.a", "mode": "managed", "type": "fake_thing", "name": "a",
		"provider_config_key": "fake", "schema_version": 0, "count_expression": {"constant_value": 2},
		"expressions": {"name": {"references": ["count.index"]}, "size": {"references": ["var.size"]}}}`,
		"configuration", "root_module", "resources", 0)
	want(`["fake_thing.c"]`, "configuration", "root_module", "module_calls", "none", "module", "resources", 0,
		"depends_on")
	want(`{"name": {"constant_value": "inner"}}`, "configuration", "root_module", "module_calls", "none", "expressions")

	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	read()
	want(`"a1"`, "prior_state", "values", "root_module", "resources", 1, "values", "name")
	want(`"fake_thing.a[1]"`, "planned_values", "root_module", "resources", 1, "address")
	want(`["no-op"]`, "resource_changes", 1, "change", "actions")
}

// Two plans of the same are the same text: a kept plan is compared so.
func TestPlanAsJSONIsRepeatable(t *testing.T) {
	s := newSite(t, things(20)+"module \"a\" {\n  source = \"./m\"\n}\nmodule \"b\" {\n  source = \"./m\"\n}\n")
	s.write(t, "m/main.tf", things(3))
	var first string
	for range 5 {
		_, p, err := s.plan(plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		text, err := p.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(text)
		}
		if first != string(text) {
			t.Fatalf("two plans differ: %s", cmp.Diff(first, string(text)))
		}
	}
}

// The configuration is shown with the providers that modules get and have, and with the expressions in blocks.
func TestPlanAsJSONShowsProvidersAndBlocks(t *testing.T) {
	s, _ := newShapeSite(t, `
terraform {
  required_providers {
    shape = { source = "hashicorp/shape", version = ">= 1, < 3" }
    idle  = { source = "example.com/acme/idle" }
  }
}
provider "shape" { token = var.token }
provider "shape" {
  alias = "two"
  token = "t"
}
variable "token" {
  type      = string
  default   = "hush"
  sensitive = true
}
resource "shape_all" "a" {
  name     = data.shape_all.d[0].id
  provider = shape.two
  b_single { key = "s" }
  b_list { key = module.m["x"].name }
  b_list { key = var.token }
  b_map "one" { key = local.l }
}
data "shape_all" "d" {
  count = 1
  name  = path.module
}
locals { l = "local" }
module "m" {
  source    = "./m"
  for_each  = toset(["x"])
  providers = { shape = shape.two }
}
module "own" { source = "./own" }
`)
	s.write(t, "m/main.tf", "resource \"shape_all\" \"i\" { name = \"i\" }\noutput \"name\" { value = shape_all.i.name }\n")
	s.write(t, "own/main.tf", "provider \"shape\" { token = \"own\" }\nresource \"shape_all\" \"o\" { name = \"o\" }\n")
	_, p, err := s.plan(plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var shown struct {
		Configuration struct {
			Providers json.RawMessage `json:"provider_config"`
			Root      struct {
				Resources []struct {
					Address     string
					Provider    string `json:"provider_config_key"`
					Expressions json.RawMessage
				}
				Calls map[string]struct {
					Module struct {
						Resources []struct {
							Provider string `json:"provider_config_key"`
						}
					}
				} `json:"module_calls"`
			} `json:"root_module"`
		}
	}
	if err := json.Unmarshal(text, &shown); err != nil {
		t.Fatal(err)
	}
	c := shown.Configuration
	wantJSON(t, c.Providers, `{
		"shape": {"name": "shape", "full_name": "registry.opentofu.org/hashicorp/shape",
			"version_constraint": ">= 1.0.0, < 3.0.0", "expressions": {"token": {"references": ["var.token"]}}},
		"shape.two": {"name": "shape", "full_name": "registry.opentofu.org/hashicorp/shape", "alias": "two",
			"version_constraint": ">= 1.0.0, < 3.0.0", "expressions": {"token": {"constant_value": "t"}}},
		"module.own:shape": {"name": "shape", "full_name": "registry.opentofu.org/hashicorp/shape",
			"module_address": "module.own", "expressions": {"token": {"constant_value": "own"}}},
		"idle": {"name": "idle", "full_name": "example.com/acme/idle"}}`)
	wantJSON(t, c.Root.Resources[0].Expressions, `{
		"name": {"references": ["data.shape_all.d[0].id", "data.shape_all.d[0]", "data.shape_all.d"]},
		"b_single": {"key": {"constant_value": "s"}},
		"b_list": [{"key": {"references": ["module.m[\"x\"].name", "module.m[\"x\"]"]}}, {"key": {"references": ["var.token"]}}],
		"b_map": {"one": {"key": {"references": ["local.l"]}}}}`)
	for got, want := range map[string]string{c.Root.Resources[0].Provider: "shape.two",
		c.Root.Calls["m"].Module.Resources[0].Provider:   "shape.two",
		c.Root.Calls["own"].Module.Resources[0].Provider: "module.own:shape"} {
		if got != want {
			t.Errorf("a resource has the provider %q, want %q", got, want)
		}
	}
}

func wantJSON(t *testing.T, got json.RawMessage, want string) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal([]byte(want), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got, &b); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(a, b); d != "" {
		t.Errorf("(- want, + got):\n%s", d)
	}
}
