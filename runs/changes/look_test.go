package changes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// fields are the members of a JSON object.
type fields map[string]json.RawMessage

// TestLookIsWhatRedactShows: what is looked at in one reading is what the redacted JSON has.
func TestLookIsWhatRedactShows(t *testing.T) {
	for name, text := range map[string][]byte{
		"opentofu": fixture(t, "opentofu.json"), "terraform": fixture(t, "terraform.json"), "large": large(3),
	} {
		t.Run(name, func(t *testing.T) {
			if !looksAsRedacted(t, text) {
				t.Error("it was not taken")
			}
		})
	}
	rapid.Check(t, func(r *rapid.T) {
		if text := randomPlan(r); !looksAsRedacted(r, []byte(text)) {
			r.Errorf("it was not taken: %s", text)
		}
	})
}

// fataler is a test, or one example of a property.
type fataler interface {
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// looksAsRedacted compares what Look and Redact make of a plan. It is false for one that Look does not take.
func looksAsRedacted(t fataler, text []byte) bool {
	var depends []string
	seen, err := Look(bytes.NewReader(text), LookOptions{Variables: 1 << 20, Depends: func(address string, on []string) {
		depends = append(depends, address+" on "+strings.Join(on, ","))
	}})
	if err != nil {
		return false
	}
	plan, err := Parse(bytes.NewReader(text), Options{})
	if err != nil {
		t.Fatalf("looked at, but not read: %v", err)
	}
	var redacted, again bytes.Buffer
	if err := plan.Redact(&redacted, bytes.NewReader(text)); err != nil {
		t.Fatalf("%v", err)
	}
	if err := seen.Redact(&again, bytes.NewReader(text)); err != nil || again.String() != redacted.String() {
		t.Errorf("redacted after a look: %v\n%s", err, again.String())
	}
	if seen.Counts != plan.Counts || seen.Errored != plan.Errored || seen.ToolVersion != plan.ToolVersion || seen.Cut {
		t.Errorf("%+v of %+v", seen.Counts, plan.Counts)
	}
	whole := object(redacted.Bytes())
	same(t, "changes", changesOf(seen.Changes), listed(whole["resource_changes"]))
	same(t, "drift", changesOf(seen.Drift), listed(whole["resource_drift"]))
	same(t, "the configuration", value(seen.Configuration), value(whole["configuration"]))
	variables := map[string]any{}
	for name, v := range object(whole["variables"]) {
		variables[name] = value(object(v)["value"])
	}
	same(t, "variables", valuesOf(seen.Variables), variables)
	outputs := map[string]any{}
	for name, v := range object(whole["output_changes"]) {
		outputs[name] = value(object(v)["after"])
	}
	shown := map[string]json.RawMessage{}
	for _, o := range seen.Outputs {
		shown[o.Name] = o.After
	}
	same(t, "outputs", valuesOf(shown), outputs)
	if want := dependencies(object(object(whole["prior_state"])["values"])["root_module"]); !slices.Equal(depends, want) {
		t.Errorf("%q depend, not %q", depends, want)
	}
	return true
}

func same(t fataler, what string, got, want any) {
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-redacted +looked at):\n%s", what, diff)
	}
}

func object(raw json.RawMessage) fields {
	var f fields
	_ = json.Unmarshal(raw, &f)
	return f
}

func value(raw json.RawMessage) any {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	_ = d.Decode(&v)
	return v
}

func valuesOf(raw map[string]json.RawMessage) map[string]any {
	all := map[string]any{}
	for name, v := range raw {
		all[name] = value(v)
	}
	return all
}

// changesOf are changes as values, to be compared with those of listed.
func changesOf(seen []Content) (list []any) {
	for _, c := range seen {
		one := map[string]any{}
		for name, text := range map[string]string{"address": c.Address, "previous_address": c.Previous,
			"module_address": c.Module, "deposed": c.Deposed, "mode": c.Mode, "type": c.Type, "name": c.Name,
			"provider_name": c.Provider, "action_reason": c.Reason} {
			if text != "" {
				one[name] = text
			}
		}
		for name, raw := range map[string]json.RawMessage{"before": c.Before, "after": c.After,
			"after_unknown": c.Unknown, "replace_paths": c.ReplacePaths, "importing": c.Importing} {
			if raw != nil {
				one[name] = value(raw)
			}
		}
		one["actions"] = c.Actions
		list = append(list, one)
	}
	return list
}

// listed are the changes of redacted JSON as values, as far as they are looked at.
func listed(raw json.RawMessage) (list []any) {
	var all []fields
	_ = json.Unmarshal(raw, &all)
	for _, f := range all {
		one := map[string]any{}
		for _, name := range []string{"address", "previous_address", "module_address", "deposed", "mode", "type", "name",
			"provider_name", "action_reason"} {
			if text, _ := value(f[name]).(string); text != "" {
				one[name] = text
			}
		}
		change := object(f["change"])
		for _, name := range []string{"before", "after", "after_unknown", "replace_paths", "importing"} {
			if v := value(change[name]); v != nil {
				one[name] = v
			}
		}
		one["actions"] = texts(change["actions"])
		list = append(list, one)
	}
	return list
}

func dependencies(module json.RawMessage) (list []string) {
	m := object(module)
	for _, name := range slices.Sorted(maps.Keys(m)) {
		var parts []json.RawMessage
		_ = json.Unmarshal(m[name], &parts)
		for _, part := range parts {
			if name == "child_modules" {
				list = append(list, dependencies(part)...)
			} else if on := texts(object(part)["depends_on"]); len(on) > 0 {
				list = append(list, unquoted(object(part)["address"])+" on "+strings.Join(on, ","))
			}
		}
	}
	return list
}

// randomPlan is one whose values have the same texts in many places, of which some are marked.
func randomPlan(r *rapid.T) string {
	word := rapid.SampledFrom([]string{"abc", "abcd", "eu-west-1", "correct-horse", "correct-horse-battery",
		" padded one ", `q"u\o`, "line\nline", "<&>", "é", "12345", "a correct-horse!", ""})
	quote := func(text string) string {
		if rapid.Bool().Draw(r, "escaped") { // as the tools write it, and in yet another way
			return strings.ReplaceAll(string(must(json.Marshal(text))), "a", `\u0061`)
		}
		return string(must(json.Marshal(text)))
	}
	names := []string{"a", "b", "c", "correct-horse-battery"}
	var any, marks func(depth int) string
	container := func(depth int, part func(int) string) string {
		var parts []string
		isList := rapid.Bool().Draw(r, "list")
		for _, name := range names[:rapid.IntRange(0, len(names)).Draw(r, "size")] {
			if isList {
				parts = append(parts, part(depth-1))
			} else {
				parts = append(parts, quote(name)+" : "+part(depth-1))
			}
		}
		if isList {
			return "[" + strings.Join(parts, ", ") + "]"
		}
		return "{" + strings.Join(parts, " ,") + "}"
	}
	any = func(depth int) string {
		switch n := rapid.IntRange(0, 9).Draw(r, "kind"); {
		case n < 4 && depth > 0:
			return container(depth, any)
		case n < 7:
			return quote(word.Draw(r, "text"))
		default:
			return rapid.SampledFrom([]string{"null", "true", "12345", "1.50", "-1e3"}).Draw(r, "scalar")
		}
	}
	marks = func(depth int) string {
		if depth > 0 && rapid.Bool().Draw(r, "inner") {
			return container(depth, marks)
		}
		return rapid.SampledFrom([]string{"true", "false", "{}", "null"}).Draw(r, "mark")
	}
	change := func(i int) string {
		return fmt.Sprintf(`{"address":"t.n%d","module_address":%s,"mode":"managed","type":%s,"name":"n","change":{`+
			`"actions":[%s],"before":%s,"after":%s,"after_unknown":%s,"before_sensitive":%s,"after_sensitive":%s,`+
			`"replace_paths":[[%s]],"importing":{"id":%s}}}`, i, quote(word.Draw(r, "module")), quote(word.Draw(r, "type")),
			rapid.SampledFrom([]string{`"no-op"`, `"update"`, `"delete","create"`}).Draw(r, "actions"), any(3), any(3),
			marks(2), marks(3), marks(3), quote(word.Draw(r, "path")), any(1))
	}
	var changes, drift []string
	for i := range rapid.IntRange(0, 4).Draw(r, "changes") {
		changes = append(changes, change(i))
	}
	for i := range rapid.IntRange(0, 2).Draw(r, "drift") {
		drift = append(drift, change(i))
	}
	state := fmt.Sprintf(`{"root_module":{"resources":[{"address":"t.n0","depends_on":["t.n1",%s],"values":%s,"sensitive_values":%s}]}}`,
		quote("t.n2"), any(3), marks(3))
	return sample{changes: strings.Join(changes, ","), drift: strings.Join(drift, ","), prior: state, planned: state,
		variables: `{"v":{"value":` + any(2) + `},"w":{"value":` + any(2) + `}}`,
		declared:  `{"v":{"sensitive":true,"default":` + any(1) + `}}`,
		provider: `{"x":{"expressions":{"token":{"constant_value":` + any(0) + `},"region":{"constant_value":` +
			any(0) + `}}}}`,
		outputs: `"o":{"actions":["update"],"before":` + any(1) + `,"after":` + any(2) + `,"before_sensitive":` + marks(1) +
			`,"after_sensitive":` + marks(2) + `}`}.String()
}

func must(raw []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return raw
}
