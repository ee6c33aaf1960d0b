// Package insighttest makes plans as show -json writes them, for tests. They are written by hand in
// the tool's shape: no provider has made them.
package insighttest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Resource is what a plan does to a resource.
type Resource struct {
	Address   string
	Actions   []string // none for a creation
	Before    any
	After     any
	Unknown   any
	Sensitive any        // marks before and after
	Because   [][]string // replace_paths
	DependsOn []string   // in the prior state
}

// JSON is a plan's.
func JSON(resources ...Resource) []byte {
	changes, planned, prior, config := []any{}, []any{}, []any{}, []any{}
	for _, r := range resources {
		typ, name, _ := strings.Cut(r.Address, ".")
		name, _, _ = strings.Cut(name, "[")
		head := func() map[string]any {
			return map[string]any{"address": r.Address, "mode": "managed", "type": typ, "name": name,
				"provider_name": providerOf(typ)}
		}
		change := head()
		change["change"] = r.change()
		changes = append(changes, change)
		if r.After != nil {
			planned = append(planned, r.values(head(), r.After))
		}
		if r.Before != nil {
			prior = append(prior, r.values(head(), r.Before))
		}
		config = append(config, map[string]any{"address": typ + "." + name, "mode": "managed", "type": typ, "name": name,
			"provider_config_key": strings.Split(typ, "_")[0], "expressions": map[string]any{}, "schema_version": 0})
	}
	return marshal(map[string]any{
		"format_version": "1.2", "terraform_version": "1.12.6",
		"planned_values":   map[string]any{"root_module": map[string]any{"resources": planned}},
		"resource_changes": changes,
		"prior_state": map[string]any{"format_version": "1.0", "terraform_version": "1.12.6",
			"values": map[string]any{"root_module": map[string]any{"resources": prior}}},
		"configuration": map[string]any{"provider_config": map[string]any{},
			"root_module": map[string]any{"resources": config}},
		"timestamp": "2026-11-23T08:00:00Z", "applyable": true, "complete": true, "errored": false,
	})
}

func (r Resource) change() map[string]any {
	actions := r.Actions
	if len(actions) == 0 {
		actions = []string{"create"}
	}
	change := map[string]any{"actions": actions, "before": r.Before, "after": r.After, "after_unknown": orEmpty(r.Unknown),
		"before_sensitive": orEmpty(r.Sensitive), "after_sensitive": orEmpty(r.Sensitive)}
	if len(r.Because) > 0 {
		change["replace_paths"] = r.Because
	}
	return change
}

func (r Resource) values(head map[string]any, values any) map[string]any {
	head["values"], head["sensitive_values"], head["schema_version"] = values, orEmpty(r.Sensitive), 0
	if len(r.DependsOn) > 0 {
		head["depends_on"] = r.DependsOn
	}
	return head
}

func orEmpty(value any) any {
	if value == nil {
		return map[string]any{}
	}
	return value
}

func providerOf(typ string) string {
	return "registry.opentofu.org/hashicorp/" + strings.Split(typ, "_")[0]
}

func marshal(value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("a test's plan is no JSON: %v", err))
	}
	return raw
}
