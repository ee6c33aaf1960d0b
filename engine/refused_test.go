package engine_test

import (
	"strings"
	"testing"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/plan"
)

// What is written wrongly, or isn't supported, is said with file and line.
func TestWrongConfigurationsAreSaidWithTheirPlace(t *testing.T) {
	thing := func(more string) string { return "resource \"fake_thing\" \"a\" {\n  name = \"a\"\n" + more + "}\n" }
	for text, want := range map[string]string{
		"other {}\n": "other",

		"output \"a\" {}\n":       "value",
		thing("") + thing(""):     "two blocks",
		thing("  count = -1\n"):   "whole number",
		thing("  count = null\n"): "whole number",

		thing("  connection {}\n"):        "aren't supported",
		thing("  enabled = true\n"):       "enabled",
		"removed {\n  from = 1\n}\n":      "main.tf:2",
		thing("  provider = a.b.c\n"):     "NAME.ALIAS",
		thing("  links = [self.id]\n"):    "self has no meaning",
		thing("  depends_on = \"x\"\n"):   "main.tf:3",
		thing("  for_each = [\"a\"]\n"):   "toset()",
		thing("  links = [each.key]\n"):   "each.key has no meaning",
		"data \"fake_thing\" \"a\" {}\n":  "no data type",
		thing("  count = sensitive(1)\n"): "sensitive",
		thing("  links = [path.other]\n"): "path.module",
		thing("  links = [local.none]\n"): "Undefined local value",

		thing("  links = [module.none.x]\n"):          "module.none",
		"resource \"fake_other\" \"a\" {}\n":          "no managed type",
		thing("  for_each = sensitive({})\n"):         "sensitive",
		thing("  for_each = toset([null])\n"):         "null",
		"moved {\n  from = fake_thing.a\n}\n":         "to",
		thing("  links = [terraform.other]\n"):        "terraform.workspace",
		"terraform {\n  experiments = []\n}\n":        "isn't supported",
		"moved {\n  from = a\n  to = b.c\n}\n":        "main.tf:2",
		thing("  count = 1\n  for_each = {}\n"):       "can't stand together",
		thing("  depends_on = [module.none]\n"):       "isn't there",
		"variable \"a\" {}\nvariable \"a\" {}\n":      "two blocks",
		"terraform {\n  backend \"http\" {}\n}\n":     "needs an address",
		thing("  links = fake_thing.none[*].id\n"):    "isn't there",
		"variable \"a\" {\n  type = nonsense\n}\n":    "main.tf:2",
		thing("  depends_on = [fake_thing.none]\n"):   "isn't there",
		"provider \"fake\" {\n  for_each = {}\n}\n":   "isn't supported",
		"variable \"a\" {\n  ephemeral = true\n}\n":   "ephemeral",
		thing("  lifecycle {\n    other = 1\n  }\n"):  "other",
		"terraform {\n  provider_meta \"x\" {}\n}\n":  "aren't supported",
		"variable \"a\" {\n  default = local.x\n}\n":  "main.tf:2",
		"output \"a\" {\n  value = sensitive(1)\n}\n": "sensitive = true",
		"module \"m\" {\n  source = \"./inner\"\n}\n": "only the root module has a backend",

		thing("  links = [data.fake_thing.none.id]\n"):          "isn't there",
		"provider \"fake\" {}\nprovider \"fake\" {}\n":          "two blocks",
		"locals {\n  a = 1\n}\nlocals {\n  a = 2\n}\n":          "two locals",
		"module \"m\" {\n  source = \"./importing\"\n}\n":       "stand in the root module",
		thing("  lifecycle {\n    precondition {}\n  }\n"):      "condition",
		thing("  lifecycle {\n    ignore_changes = 1\n  }\n"):   "main.tf:4",
		"module \"m\" {\n  source = \"./m\"\n  other = 1\n}\n":  "no variable \"other\"",
		thing("  lifecycle {\n    ignore_changes = [1]\n  }\n"): "main.tf:4",

		thing("  lifecycle {\n    prevent_destroy = var.x\n  }\n"):          "main.tf:4",
		"terraform {\n  required_providers {\n    x = 1\n  }\n}\n":          "source = ",
		"module \"m\" {\n  source = \"./m\"\n  providers = 1\n}\n":          "main.tf:3",
		thing("  lifecycle {\n    replace_triggered_by = 1\n  }\n"):         "main.tf:4",
		"variable \"a\" {\n  type = number\n  default = \"x\"\n}\n":         "doesn't fit",
		"module \"m\" {\n  source = \"./m\"\n  version = \"1\"\n}\n":        "registries",
		"terraform {\n  backend \"local\" {\n    other = 1\n  }\n}\n":       "no setting other",
		"terraform {\n  backend \"local\" {\n    path = []\n  }\n}\n":       "is text",
		"removed {\n  from = fake_thing.a\n  provisioner \"x\" {}\n}\n":     "aren't supported",
		"output \"a\" {\n  value = 1\n}\noutput \"a\" {\n  value = 1\n}\n":  "two blocks",
		"import {\n  to = fake_thing.a\n  id = \"1\"\n  for_each = {}\n}\n": "isn't supported",

		"terraform {\n  required_providers {\n    x = { source = 1 }\n  }\n}\n":               "is a string",
		"module \"m\" {\n  source = \"./m\"\n}\nmodule \"m\" {\n  source = \"./m\"\n}\n":      "two blocks",
		"module \"m\" {\n  source = \"./m\"\n}\noutput \"x\" {\n  value = module.m.none\n}\n": "no output",

		"module \"m\" {\n  source = \"./m\"\n}\noutput \"x\" {\n  value = module.m[0].name\n}\n":                "main.tf:5",
		"terraform {\n  required_providers {\n    fake = { source = \"a//b\" }\n  }\n}\n" + thing(""):           "no source of a provider",
		"terraform {\n  backend \"http\" {\n    address = \"http://x\"\n    retry_max = \"x\"\n  }\n}\n":        "isn't negative",
		"output \"a\" {\n  value = 1\n  precondition {\n    condition = 1\n    error_message = \"x\"\n  }\n}\n": "true or false",

		"terraform {\n  backend \"http\" {\n    address = \"http://x\"\n    client_private_key_pem = \"x\"\n  }\n}\n":    "no pair",
		"output \"a\" {\n  value = 1\n  precondition {\n    condition = false\n    error_message = \"never\"\n  }\n}\n":  "never",
		"terraform {\n  backend \"http\" {\n    address = \"http://x\"\n    client_ca_certificate_pem = \"x\"\n  }\n}\n": "no certificate",
	} {
		s := newSite(t, text)
		s.write(t, "m/main.tf", "output \"name\" { value = 1 }\n")
		s.write(t, "inner/main.tf", "terraform {\n  backend \"local\" {}\n}\n")
		s.write(t, "importing/main.tf", "import {\n  to = fake_thing.a\n  id = \"1\"\n}\n")
		_, _, err := s.plan(plan.Options{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "main.tf:") {
			t.Errorf("%s: %v, want %q with its place", text, err, want)
		}
	}
}

// Values come from everywhere that they may, and what comes later wins.
func TestInputsComeFromEverywhere(t *testing.T) {
	s := newSite(t, "variable \"l\" {\n  type = list(number)\n}\nvariable \"e\" {}\nvariable \"j\" {}\nvariable \"a\" {}\n"+
		"variable \"o\" {\n  type = object({ x = string, y = optional(number, 7) })\n}\n"+
		"output \"all\" { value = [var.l, var.e, var.j, var.a, var.o.y] }\n")
	s.write(t, "terraform.tfvars.json", `{"j": "json", "a": "file", "nobody": "has it"}`)
	s.write(t, "b.auto.tfvars", "a = \"second\"\n")
	s.write(t, "a.auto.tfvars.json", `{"a": "first"}`)
	s.write(t, "named.tfvars", "o = { x = \"n\" }\n")
	s.options = func(o *engine.Options) {
		o.Inputs = config.Inputs{Environ: []string{"TF_VAR_e=from the environment", "TF_VAR_none=x", "TF_VAR_l=[9]", "e=no"},
			Files: []string{s.dir + "/named.tfvars"}, Vars: []string{"l=[1, 2]"}}
	}
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	e, err := s.engine()
	if err != nil {
		t.Fatal(err)
	}
	f, err := e.Store.Read(t.Context())
	want := `[[1,2],"fromtheenvironment","json","second",7]`
	if got := strings.Join(strings.Fields(string(f.Outputs["all"].Value)), ""); err != nil || got != want {
		t.Errorf("%s %v, want %s", got, err, want)
	}
	for _, wrong := range []config.Inputs{{Vars: []string{"none=1"}}, {Vars: []string{"l"}}, {Vars: []string{"l=["}},
		{Environ: []string{"TF_VAR_l=["}}, {Files: []string{s.dir + "/none.tfvars"}}, {Files: []string{s.dir + "/main.tf"}}} {
		s.options = func(o *engine.Options) { o.Inputs = wrong }
		if _, err := s.engine(); err == nil {
			t.Errorf("%+v is taken", wrong)
		}
	}
}

// A configuration in JSON and one in YAML mean what they mean in the language itself.
func TestConfigurationsInJSONAndYAML(t *testing.T) {
	for name, text := range map[string]string{
		"main.tf.json": `{"variable": {"n": {"default": "x"}}, "resource": {"fake_thing": {"a": {"count": 2,
			"name": "${var.n}-${count.index}", "lifecycle": {"create_before_destroy": true}}}},
			"output": {"ids": {"value": "${fake_thing.a[*].name}"}}}`,
		"main.tf.yaml": "variable:\n  n:\n    default: x\nresource:\n  fake_thing:\n    a:\n      count: 2\n" +
			"      name: ${var.n}-${count.index}\n      lifecycle:\n        create_before_destroy: true\n" +
			"output:\n  ids:\n    value: ${fake_thing.a[*].name}\n",
	} {
		s := newSite(t, "")
		s.write(t, name, text)
		if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s.settled(t)
		if s.world.Len() != 2 {
			t.Errorf("%s has made %q", name, s.world.Calls())
		}
	}
	for name, text := range map[string]string{"main.tf.json": `{"resource": [}`, "main.tf.yaml": "a: [",
		"x.tf": "a = \xff"} {
		s := newSite(t, "")
		s.write(t, name, text)
		if _, err := s.engine(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
