package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/statefile"
)

const wholeShape = `
provider "shape" { token = "t" }
variable "secret" {
  type      = string
  default   = "hush"
  sensitive = true
}
resource "shape_all" "all" {
  name     = "all"
  hidden   = "never kept"
  text     = var.secret
  tags     = { b = "2", a = "1" }
  list     = ["x", "y"]
  any      = { deep = [1, { more = true }] }
  a_single = { key = "s" }
  a_list   = [{ key = "1" }, { key = "2", note = "own" }]
  a_set    = [{ key = "x", secret = "in a set" }, { key = "y" }]
  a_map    = { one = { key = "m", secret = "in a map" } }
  b_single { key = "s" }
  b_list { key = "1" }
  dynamic "b_list" {
    for_each = ["2", "3"]
    content { key = b_list.value }
  }
  b_set { key = "x" }
  b_set {
    key    = "y"
    secret = "also"
  }
  b_map "one" { key = "m" }
  b_group { key = "g" }
}
data "shape_all" "read" { name = shape_all.all.a_list[1].note }
output "notes" { value = [for a in shape_all.all.a_list : a.note] }
output "read" { value = data.shape_all.read.id }
`

// show is the plan for people.
func show(t *testing.T, p *plan.Plan, colours plan.Colours) string {
	t.Helper()
	var b strings.Builder
	if err := p.Show(&b, colours); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Every way of nesting is planned, made, recorded and found unchanged, and no secret is shown or kept that may not be.
func TestEveryNestingIsPlannedAndMade(t *testing.T) {
	s, world := newShapeSite(t, wholeShape)
	_, p, err := s.plan(plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := show(t, p, plan.Terminal())
	for _, secret := range []string{"hush", "in a set", "in a map", "also"} {
		if strings.Contains(text, secret) {
			t.Errorf("the plan shows %q:\n%s", secret, text)
		}
	}
	if !strings.Contains(text, "\x1b[32m+\x1b[0m shape_all.all") || !strings.Contains(text, "(known after apply)") {
		t.Errorf("the plan is\n%s", text)
	}
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	s.settled(t)
	state, err := os.ReadFile(filepath.Join(s.dir, "terraform.tfstate"))
	if err != nil || strings.Contains(string(state), "never kept") || world.token != "t" {
		t.Errorf("%v, the token is %q, the state is\n%s", err, world.token, state)
	}
	f, err := statefile.Parse(state)
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(strings.Fields(string(f.Outputs["notes"].Value)), ""); notes != `["noted","own"]` ||
		string(f.Outputs["read"].Value) != `"data of own"` {
		t.Errorf("the outputs are %s and %s", notes, f.Outputs["read"].Value)
	}

	// One element of each is changed; what the provider decided for the others stays.
	s.write(t, "main.tf", strings.NewReplacer(`{ key = "1" }, {`, `{ key = "9" }, {`, `{ key = "y" }]`, `{ key = "z" }]`,
		`b_group { key = "g" }`, `b_group { key = "h" }`, `b = "2"`, `b = "3"`).Replace(wholeShape))
	if _, p, err = s.plan(plan.Options{}); err != nil {
		t.Fatal(err)
	}
	text = show(t, p, plan.Colours{})
	if !strings.Contains(text, "~ shape_all.all") || !strings.Contains(text, "tags:") ||
		strings.Contains(text, "a_map:") || !strings.Contains(text, "0 to add, 1 to change, 0 to destroy") {
		t.Errorf("the plan is\n%s", text)
	}
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	s.settled(t)
}

// What ignore_changes names stays as it is, however deep it is; what is beside it follows the configuration.
func TestIgnoredPathsStay(t *testing.T) {
	body := `resource "shape_all" "i" {
  name     = "i"
  text     = "TEXT"
  tags     = { a = "A", b = "B" }
  list     = ["L0", "L1"]
  any      = ["N0", { key = "N1" }]
  a_single = { key = "S" }
  lifecycle {
    ignore_changes = IGNORED
  }
}
`
	for ignored, want := range map[string]string{
		"[text]":               "tags list any a_single",
		`[tags["a"]]`:          "text tags list any a_single",
		"[tags.a, list[0]]":    "text tags list any a_single",
		"[tags, list, any]":    "text a_single",
		"[a_single.key, text]": "tags list any",
		"[any[1].key]":         "text tags list any a_single",
		"all":                  "",
	} {
		s, _ := newShapeSite(t, strings.ReplaceAll(body, "IGNORED", ignored))
		if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
			t.Fatal(err)
		}
		changed := strings.NewReplacer("IGNORED", ignored, "TEXT", "new", "A\"", "new\"", "B\"", "new\"", "L0", "new", "L1",
			"newer", "N0", "new", "N1", "new", "\"S\"", "\"new\"").Replace(body)
		s.write(t, "main.tf", changed)
		_, p, err := s.plan(plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c := p.Changes[0]
		for _, name := range []string{"text", "tags", "list", "any", "a_single"} {
			changes := !c.Before.GetAttr(name).RawEquals(c.After.GetAttr(name))
			if changes != strings.Contains(" "+want+" ", " "+name+" ") {
				t.Errorf("ignoring %s, %s changes: %v, from %#v to %#v", ignored, name, changes, c.Before.GetAttr(name),
					c.After.GetAttr(name))
			}
		}
		if ignored == `[tags["a"]]` {
			if a := c.After.GetAttr("tags").AsValueMap()["a"]; a.AsString() != "A" {
				t.Errorf("tags.a is %#v", a)
			}
		}
		if ignored == "[tags.a, list[0]]" && c.After.GetAttr("list").Index(cty.Zero).AsString() != "L0" {
			t.Errorf("list is %#v", c.After.GetAttr("list"))
		}
	}
}

// An object that is replaced follows its configuration, whatever was to be ignored of the one before.
func TestReplacedObjectsIgnoreNothing(t *testing.T) {
	text := "resource \"shape_all\" \"r\" {\n  name = \"%N\"\n  text = \"%T\"\n  lifecycle {\n" +
		"    ignore_changes = [text]\n  }\n}\n"
	s, _ := newShapeSite(t, strings.NewReplacer("%N", "a", "%T", "before").Replace(text))
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	s.write(t, "main.tf", strings.NewReplacer("%N", "b", "%T", "after").Replace(text))
	result, err := s.apply(plan.Options{}, apply.Options{})
	if err != nil || result.Added != 1 || result.Destroyed != 1 {
		t.Fatalf("%+v %v", result, err)
	}
	if got := string(result.State.Resources[0].Instances[0].Attributes); !strings.Contains(got, `"text":"after"`) {
		t.Errorf("the object is %s", got)
	}
	s.settled(t)
}

// A block that may not stand there, or too often, is refused with its place.
func TestBodiesThatDoNotFitAreRefused(t *testing.T) {
	for body, want := range map[string]string{
		`nothing = 1`:                        "nothing",
		strings.Repeat("b_list {}\n", 4):     "b_list",
		`tags = ["a"]`:                       "tags",
		`b_single {}` + "\n" + `b_single {}`: "b_single",
		`b_other {}`:                         "b_other",
	} {
		s, _ := newShapeSite(t, "resource \"shape_all\" \"x\" {\n  name = \"x\"\n  "+body+"\n}\n")
		if _, _, err := s.plan(plan.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", body, err)
		}
	}
}
