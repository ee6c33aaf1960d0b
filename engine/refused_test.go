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
		thing("") + thing(""):                                                                            "two blocks",
		thing("  count = 1\n  for_each = {}\n"):                                                          "can't stand together",
		thing("  enabled = true\n"):                                                                      "use count",
		thing("  provider = a.b.c\n"):                                                                    "NAME.ALIAS",
		thing("  depends_on = [fake_thing.none]\n"):                                                      "isn't there",
		thing("  depends_on = [module.none]\n"):                                                          "isn't there",
		thing("  depends_on = \"x\"\n"):                                                                  "main.tf:3",
		thing("  lifecycle {\n    prevent_destroy = var.x\n  }\n"):                                       "main.tf:4",
		thing("  lifecycle {\n    ignore_changes = 1\n  }\n"):                                            "main.tf:4",
		thing("  lifecycle {\n    ignore_changes = [1]\n  }\n"):                                          "main.tf:4",
		thing("  lifecycle {\n    replace_triggered_by = 1\n  }\n"):                                      "main.tf:4",
		thing("  lifecycle {\n    other = 1\n  }\n"):                                                     "other",
		thing("  lifecycle {\n    precondition {}\n  }\n"):                                               "condition",
		thing("  connection {}\n"):                                                                       "aren't supported",
		thing("  count = -1\n"):                                                                          "whole number",
		thing("  count = null\n"):                                                                        "whole number",
		thing("  count = sensitive(1)\n"):                                                                "sensitive",
		thing("  for_each = [\"a\"]\n"):                                                                  "toset()",
		thing("  for_each = sensitive({})\n"):                                                            "sensitive",
		thing("  for_each = toset([null])\n"):                                                            "null",
		thing("  links = fake_thing.none[*].id\n"):                                                       "isn't there",
		thing("  links = [self.id]\n"):                                                                   "self has no meaning",
		thing("  links = [each.key]\n"):                                                                  "each.key has no meaning",
		thing("  links = [path.other]\n"):                                                                "path.module",
		thing("  links = [terraform.other]\n"):                                                           "terraform.workspace",
		thing("  links = [local.none]\n"):                                                                "Undefined local value",
		thing("  links = [data.fake_thing.none.id]\n"):                                                   "isn't there",
		thing("  links = [module.none.x]\n"):                                                             "module.none",
		"data \"fake_thing\" \"a\" {}\n":                                                                 "no data type",
		"resource \"fake_other\" \"a\" {}\n":                                                             "no managed type",
		"terraform {\n  experiments = []\n}\n":                                                           "isn't supported",
		"terraform {\n  required_providers {\n    x = 1\n  }\n}\n":                                       "source = ",
		"terraform {\n  required_providers {\n    x = { source = 1 }\n  }\n}\n":                          "is a string",
		"terraform {\n  required_providers {\n    fake = { source = \"a//b\" }\n  }\n}\n" + thing(""):    "no source of a provider",
		"terraform {\n  provider_meta \"x\" {}\n}\n":                                                     "aren't supported",
		"terraform {\n  backend \"local\" {\n    other = 1\n  }\n}\n":                                    "no setting other",
		"terraform {\n  backend \"local\" {\n    path = []\n  }\n}\n":                                    "is text",
		"terraform {\n  backend \"http\" {}\n}\n":                                                        "needs an address",
		"terraform {\n  backend \"http\" {\n    address = \"http://x\"\n    retry_max = \"x\"\n  }\n}\n": "isn't negative",
		"terraform {\n  backend \"http\" {\n    address = \"http://x\"\n    client_ca_certificate_pem = \"x\"\n  }\n}\n": "no certificate",
		"terraform {\n  backend \"http\" {\n    address = \"http://x\"\n    client_private_key_pem = \"x\"\n  }\n}\n":    "no pair",
		"provider \"fake\" {\n  for_each = {}\n}\n":                        "isn't supported",
		"provider \"fake\" {}\nprovider \"fake\" {}\n":                     "two blocks",
		"variable \"a\" {}\nvariable \"a\" {}\n":                           "two blocks",
		"variable \"a\" {\n  ephemeral = true\n}\n":                        "ephemeral",
		"variable \"a\" {\n  type = number\n  default = \"x\"\n}\n":        "doesn't fit",
		"variable \"a\" {\n  type = nonsense\n}\n":                         "main.tf:2",
		"variable \"a\" {\n  default = local.x\n}\n":                       "main.tf:2",
		"locals {\n  a = 1\n}\nlocals {\n  a = 2\n}\n":                     "two locals",
		"output \"a\" {\n  value = 1\n}\noutput \"a\" {\n  value = 1\n}\n": "two blocks",
		"output \"a\" {}\n":                                                "value",
		"output \"a\" {\n  value = sensitive(1)\n}\n":                      "sensitive = true",
		"output \"a\" {\n  value = 1\n  precondition {\n    condition = false\n    error_message = \"never\"\n  }\n}\n": "never",
		"output \"a\" {\n  value = 1\n  precondition {\n    condition = 1\n    error_message = \"x\"\n  }\n}\n":         "true or false",
		"moved {\n  from = a\n  to = b.c\n}\n":                                                   "main.tf:2",
		"moved {\n  from = fake_thing.a\n}\n":                                                    "to",
		"removed {\n  from = 1\n}\n":                                                             "main.tf:2",
		"removed {\n  from = fake_thing.a\n  provisioner \"x\" {}\n}\n":                          "aren't supported",
		"import {\n  to = fake_thing.a\n  id = \"1\"\n  for_each = {}\n}\n":                      "isn't supported",
		"module \"m\" {\n  source = \"./m\"\n  version = \"1\"\n}\n":                             "registries",
		"module \"m\" {\n  source = \"./m\"\n  other = 1\n}\n":                                   "no variable \"other\"",
		"module \"m\" {\n  source = \"./m\"\n  providers = 1\n}\n":                               "main.tf:3",
		"module \"m\" {\n  source = \"./m\"\n}\nmodule \"m\" {\n  source = \"./m\"\n}\n":         "two blocks",
		"module \"m\" {\n  source = \"./m\"\n}\noutput \"x\" {\n  value = module.m.none\n}\n":    "no output",
		"module \"m\" {\n  source = \"./m\"\n}\noutput \"x\" {\n  value = module.m[0].name\n}\n": "main.tf:5",
		"module \"m\" {\n  source = \"./inner\"\n}\n":                                            "only the root module has a backend",
		"module \"m\" {\n  source = \"./importing\"\n}\n":                                        "stand in the root module",
		"other {}\n": "other",
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
	for name, text := range map[string]string{"main.tf.json": `{"resource": [}`, "main.tf.yaml": "a: [", "x.tf": "a = \xff"} {
		s := newSite(t, "")
		s.write(t, name, text)
		if _, err := s.engine(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
