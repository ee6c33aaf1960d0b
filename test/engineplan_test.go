//go:build e2e

package test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/internal/suite"
)

// plansAgree compares what both plans show besides what they do: the members that readers of plans use. What is
// sensitive stands in the changes, where both agree; elsewhere the clients call a whole collection so.
func plansAgree(t *testing.T, theirs, ours string) {
	t.Helper()
	a, b := readPlan(t, theirs), readPlan(t, ours)
	for member, apart := range map[string][]string{"format_version": nil, "variables": nil, "output_changes": nil,
		"configuration": nil, "planned_values": {"sensitive_values"},
		// The state has dependencies as they were recorded; OpenTofu adds those that the configuration has now.
		"prior_state": {"sensitive_values", "terraform_version", "depends_on"}} {
		if d := cmp.Diff(without(a[member], apart), without(b[member], apart)); d != "" {
			t.Errorf("the plans' %s differ (- client, + engine):\n%s", member, d)
		}
	}
	if d := cmp.Diff(changesOf(a), changesOf(b)); d != "" {
		t.Errorf("the plans' changes differ (- client, + engine):\n%s", d)
	}
}

func readPlan(t *testing.T, text string) map[string]any {
	t.Helper()
	var plan map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&plan); err != nil {
		t.Fatal(err)
	}
	return plan
}

// without leaves out members, however deep they are.
func without(v any, apart []string) any {
	switch v := v.(type) {
	case map[string]any:
		all := map[string]any{}
		for name, inner := range v {
			if !slices.Contains(apart, name) {
				all[name] = without(inner, apart)
			}
		}
		return all
	case []any:
		all := make([]any, 0, len(v))
		for _, inner := range v {
			all = append(all, without(inner, apart))
		}
		return all
	}
	return v
}

// changesOf are a plan's changes by address, without the reasons, and with paths in order.
func changesOf(plan map[string]any) map[string]any {
	all := map[string]any{}
	list, _ := plan["resource_changes"].([]any)
	for _, c := range list {
		c := c.(map[string]any)
		delete(c, "action_reason")
		if paths, ok := c["change"].(map[string]any)["replace_paths"].([]any); ok {
			slices.SortFunc(paths, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		all[c["address"].(string)] = c
	}
	return all
}

// TestEngineUpgradesStates has the engine and OpenTofu work on what a provider recorded before its schema
// changed, and the provider of before refuse what the new one has recorded.
func TestEngineUpgradesStates(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	before := shelfHead + `resource "shelf_label" "l" { title = "words" }`
	w := newEngineWorld(t, "TOFU_BIN", map[string]string{"main.tf": before})
	now := w.environ
	old := append(now[:len(now):len(now)], "SHELF_OLD=1")

	w.environ = old
	w.engine("apply", "--auto-approve")
	w.environ = now
	w.write(w.dir+"/main.tf", strings.Replace(before, "title", "text", 1))
	w.client("init", "-input=false")
	w.client("plan", "-input=false", "-detailed-exitcode")
	w.engine("plan", "--detailed-exitcode")

	w.write(w.dir+"/main.tf", strings.Replace(before, `title = "words"`, `text = "other"`, 1))
	w.agreeOnPlans()
	w.engine("apply", "--auto-approve")
	w.client("plan", "-input=false", "-detailed-exitcode")
	w.environ = old
	w.write(w.dir+"/main.tf", before)
	if said := w.engineFails("plan"); !strings.Contains(said, "newer provider") {
		t.Errorf("the provider of before says of a newer record: %s", said)
	}
}

// TestEnginesFunctionsAgree has OpenTofu evaluate what the engine's own tests of functions do.
func TestEnginesFunctionsAgree(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	from := filepath.Join("..", "engine", "testdata", "functions")
	files := map[string]string{}
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			path, err = filepath.Rel(from, path)
			files[path] = string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	newEngineWorld(t, "TOFU_BIN", files).agreeOnPlans()
}

// TestEngineHasOpenTofusFunctions has the engine know every function of OpenTofu's but those that give something else
// each time.
func TestEngineHasOpenTofusFunctions(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	w := newEngineWorld(t, "TOFU_BIN", map[string]string{"main.tf": "locals {}\n"})
	var known struct {
		Signatures map[string]json.RawMessage `json:"function_signatures"`
	}
	if err := json.Unmarshal([]byte(w.client("metadata", "functions", "-json")), &known); err != nil {
		t.Fatal(err)
	}
	var missing []string
	ours := config.Functions(w.dir)
	for name := range known.Signatures {
		if _, ok := ours[name]; !ok && !strings.HasPrefix(name, "core::") {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	if d := cmp.Diff([]string{"bcrypt", "plantimestamp", "timestamp", "uuid"}, missing); d != "" {
		t.Errorf("functions that the engine doesn't have (- want, + got):\n%s", d)
	}
}
