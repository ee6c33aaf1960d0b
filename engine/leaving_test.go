package engine_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/provider"
)

// What must not be destroyed isn't, when its count or for_each leaves it out either.
func TestProtectedInstanceThatIsLeftOutIsNotDestroyed(t *testing.T) {
	text := func(count string, protect bool) string {
		more := "  count = " + count + "\n"
		if protect {
			more += "  lifecycle {\n    prevent_destroy = true\n  }\n"
		}
		return thingBlock("a", more)
	}
	s := newSite(t, text("2", true))
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	s.write(t, "main.tf", text("1", true))
	_, _, err := s.plan(plan.Options{})
	if err == nil || !strings.Contains(err.Error(), "fake_thing.a[1] would be destroyed") {
		t.Errorf("it would be destroyed: %v", err)
	}
	if _, _, err := s.plan(plan.Options{RefreshOnly: true}); err != nil {
		t.Errorf("to look changes nothing: %v", err)
	}
	s.write(t, "main.tf", text("1", false))
	if _, p, err := s.plan(plan.Options{}); err != nil || p.Empty() {
		t.Error(err)
	}
}

// An object isn't imported to where the configuration makes nothing: it would be destroyed as one too many.
func TestImportToNowhereIsRefused(t *testing.T) {
	s := newSite(t, thingBlock("a", "  count = 2\n")+"import {\n  to = fake_thing.a[5]\n  id = \"thing-1\"\n}\n")
	s.makeElsewhere(t)
	_, _, err := s.plan(plan.Options{})
	if err == nil || !strings.Contains(err.Error(), "no such instance to import into") {
		t.Errorf("a block: %v", err)
	}
	s.write(t, "main.tf", thingBlock("a", "  count = 2\n"))
	to, err := addr.Parse("fake_thing.a[5]")
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.apply(plan.Options{RefreshOnly: true, NoRefresh: true, Targets: []addr.Resource{to},
		Imports: []plan.Import{{To: to, ID: "thing-1"}}}, apply.Options{})
	if err == nil || !strings.Contains(err.Error(), "no such instance to import into") {
		t.Errorf("a command: %v", err)
	}
}

// A plan that only imports or renames has something to do, and says what.
func TestImportsAndMovesAreSomethingToDo(t *testing.T) {
	s := newSite(t, thingBlock("a", "")+"import {\n  to = fake_thing.a\n  id = \"thing-1\"\n}\n")
	s.makeElsewhere(t)
	_, p, err := s.plan(plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := show(t, p, plan.Colours{})
	if p.Empty() || !strings.Contains(text, `fake_thing.a (imported as "thing-1")`) ||
		!strings.Contains(text, "Plan: 1 to import, 0 to add, 0 to change, 0 to destroy.") {
		t.Errorf("%s", text)
	}
	document, err := p.JSON()
	if err != nil || !strings.Contains(string(document), `"importing":{"id":"thing-1"}`) {
		t.Errorf("%v %s", err, document)
	}
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	s.settled(t)
	s.write(t, "main.tf", thingBlock("b", "")+"moved {\n  from = fake_thing.a\n  to   = fake_thing.b\n}\n")
	if _, p, err = s.plan(plan.Options{}); err != nil {
		t.Fatal(err)
	}
	if text := show(t, p, plan.Colours{}); p.Empty() || !strings.Contains(text, "(moved from fake_thing.a)") {
		t.Errorf("%s", text)
	}
	s.write(t, "main.tf", thingBlock("a", "")+"moved {\n  from = fake_thing.a\n  to   = fake_thing.b\n}\n"+
		"moved {\n  from = fake_thing.b\n  to   = fake_thing.a\n}\n")
	if _, _, err := s.plan(plan.Options{}); err == nil || !strings.Contains(err.Error(), "in a circle") {
		t.Error(err)
	}
}

// makeElsewhere has the site's world have thing-1, which is in the state of another site.
func (s *site) makeElsewhere(t *testing.T) {
	t.Helper()
	other := newSite(t, thingBlock("x", ""))
	other.world = s.world
	if _, err := other.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
}

// changeState changes a site's state as JSON.
func (s *site) changeState(t *testing.T, change func(state map[string]any)) {
	t.Helper()
	path := filepath.Join(s.dir, "terraform.tfstate")
	text, err := os.ReadFile(path)
	var state map[string]any
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	if err != nil {
		t.Fatal(err)
	}
	change(state)
	if text, err = json.Marshal(state); err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// firstInstance is the first instance of a state's first resource.
func firstInstance(state map[string]any) map[string]any {
	resource, _ := state["resources"].([]any)[0].(map[string]any)
	instance, _ := resource["instances"].([]any)[0].(map[string]any)
	return instance
}

// What another tool has marked to be forgotten instead of destroyed is forgotten, after it was read and moved too.
func TestObjectsThatMustStayAreForgotten(t *testing.T) {
	for name, destroy := range map[string]bool{"taken out": false, "destroyed": true} {
		s := newSite(t, things(1))
		if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
			t.Fatal(err)
		}
		s.changeState(t, func(state map[string]any) { firstInstance(state)["skip_destroy"] = true })
		s.write(t, "main.tf", strings.ReplaceAll(things(1), `"fake_thing" "t0"`, `"fake_thing" "moved"`)+
			"moved {\n  from = fake_thing.t0\n  to   = fake_thing.moved\n}\n")
		if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
			t.Fatal(err)
		}
		if !destroy {
			s.write(t, "main.tf", "")
		}
		result, err := s.apply(plan.Options{Destroy: destroy}, apply.Options{})
		if err != nil || s.world.Len() != 1 || len(result.State.Resources) != 0 {
			t.Errorf("%s: there are %d objects: %v", name, s.world.Len(), err)
		}
	}
}

// A removed block forgets what was replaced and is still there, too.
func TestDeposedObjectsAreForgottenWithTheirs(t *testing.T) {
	s := newSite(t, thingBlock("a", "  lifecycle {\n    create_before_destroy = true\n  }\n"))
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	s.write(t, "main.tf", strings.Replace(thingBlock("a", "  lifecycle {\n    create_before_destroy = true\n  }\n"), `"n"`,
		`"other"`, 1))
	s.world.Fail = func(what, _ string) error {
		if what == "delete" {
			return &provider.Fault{Summary: "no", Code: 403}
		}
		return nil
	}
	result, err := s.apply(plan.Options{}, apply.Options{})
	if err == nil || len(result.State.Instances(addr.Resource{Type: "fake_thing", Name: "a"})) != 2 {
		t.Fatalf("it isn't deposed: %v", err)
	}
	s.world.Fail = nil
	s.write(t, "main.tf", "removed {\n  from = fake_thing.a\n  lifecycle {\n    destroy = false\n  }\n}\n")
	result, err = s.apply(plan.Options{}, apply.Options{})
	if err != nil || s.world.Len() != 2 || len(result.State.Resources) != 0 {
		t.Errorf("there are %d objects, the state has %+v: %v", s.world.Len(), result.State.Resources, err)
	}
}

// A state with what isn't known here stops plan and apply, and stays as it is.
func TestStateOfANewerToolStopsEverything(t *testing.T) {
	s := newSite(t, things(2))
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	e, p, err := s.plan(plan.Options{Destroy: true})
	if err != nil {
		t.Fatal(err)
	}
	s.changeState(t, func(state map[string]any) { firstInstance(state)["kept_by"] = "somebody" })
	if _, _, err := s.plan(plan.Options{}); err == nil || !strings.Contains(err.Error(), `"kept_by"`) {
		t.Errorf("plan: %v", err)
	}
	if _, err := e.Apply(context.Background(), p, apply.Options{}); err == nil || s.world.Len() != 2 {
		t.Errorf("apply: %v", err)
	}
}

// A state that was changed by hand, under the serial that it had, isn't the one that was planned on.
func TestPlanOnAStateChangedByHandIsNotDone(t *testing.T) {
	s := newSite(t, things(2))
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	e, p, err := s.plan(plan.Options{Destroy: true})
	if err != nil {
		t.Fatal(err)
	}
	s.changeState(t, func(state map[string]any) { state["resources"] = state["resources"].([]any)[:1] })
	_, err = e.Apply(context.Background(), p, apply.Options{})
	if err == nil || !strings.Contains(err.Error(), "has changed since") || s.world.Len() != 2 {
		t.Errorf("%d objects: %v", s.world.Len(), err)
	}
}

// A value that was recorded as sensitive isn't shown when the configuration doesn't call it so any more.
func TestSecretOfBeforeIsNotShown(t *testing.T) {
	text := "variable \"v\" {\n  default = \"hush\"\n  sensitive = true\n}\nresource \"fake_thing\" \"a\" {\n  name  = \"a\"\n" +
		"  links = [var.v]\n}\noutput \"o\" {\n  value = var.v\n  sensitive = true\n}\n"
	s := newSite(t, text)
	if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	s.write(t, "main.tf", "resource \"fake_thing\" \"a\" {\n  name  = \"a\"\n  links = [\"open\"]\n}\noutput \"o\" {\n"+
		"  value = \"open\"\n}\n")
	_, p, err := s.plan(plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	shown := show(t, p, plan.Colours{})
	if strings.Contains(shown, "hush") || strings.Count(shown, `(sensitive value) -> `) != 2 {
		t.Errorf("%s", shown)
	}
	var document struct {
		Changes []struct {
			Change struct {
				Before map[string]any `json:"before_sensitive"`
				After  map[string]any `json:"after_sensitive"`
			} `json:"change"`
		} `json:"resource_changes"`
	}
	raw, err := p.JSON()
	if err == nil {
		err = json.Unmarshal(raw, &document)
	}
	if err != nil || len(document.Changes) != 1 {
		t.Fatalf("%v %s", err, raw)
	}
	before, _ := json.Marshal(document.Changes[0].Change.Before)
	if after, _ := json.Marshal(document.Changes[0].Change.After); string(before) != `{"links":[true]}` ||
		string(after) != `{"links":[false]}` {
		t.Errorf("before %s, after %s", before, after)
	}
}

// A folder may be called what means something to a shell: its values and snapshots are found.
func TestFoldersOfAnyNameAreWorkedIn(t *testing.T) {
	s := newSite(t, "")
	s.dir = filepath.Join(s.dir, "net[1]*")
	s.write(t, "main.tf", "variable \"name\" {}\nresource \"fake_thing\" \"a\" { name = var.name }\n")
	s.write(t, "a.auto.tfvars", "name = \"first\"\n")
	s.write(t, "b.auto.tfvars.json", `{"name": "second"}`)
	folder := filepath.Join(s.dir, "snapshots")
	s.options = func(o *engine.Options) { o.Snapshots = folder }
	_, err := s.apply(plan.Options{}, apply.Options{})
	if err != nil || !slices.Equal(s.world.Calls(), []string{"create second"}) {
		t.Fatalf("%v %q", err, s.world.Calls())
	}
	if all, err := engine.Snapshots(folder); err != nil || len(all) != 1 {
		t.Errorf("%v %v", all, err)
	}
}

// A plan for people has no character in its values that a terminal acts on.
func TestPlanDoesNothingToATerminal(t *testing.T) {
	s := newSite(t, "resource \"fake_thing\" \"a\" {\n  for_each = toset([\"k\\u009b2J\"])\n"+
		"  name     = \"n\\u009b2J\\u001b[2J\\u202e\"\n}\n")
	_, p, err := s.plan(plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := show(t, p, plan.Colours{})
	if strings.ContainsAny(text, "\u009b\u001b\u202e") || !strings.Contains(text, "n\\u009b2J") {
		t.Errorf("%q", text)
	}
}
