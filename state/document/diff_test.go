package document

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// resource is a state's entry of one instance.
func resource(place, attributes string) string {
	module, name, _ := strings.Cut("/"+place, "/")
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		module, name = name[:i], name[i+1:]
	}
	return fmt.Sprintf(`{"module":%q,"mode":"managed","type":"t","name":%q,"provider":"provider[\"r/h/aws\"]","instances":[{"attributes":%s}]}`, module, name, attributes)
}

func stateOf(resources ...string) []byte {
	return []byte(`{"version":4,"resources":[` + strings.Join(resources, ",") + `]}`)
}

func actions(d *Diff) []string {
	all := []string{}
	for _, c := range d.Resources {
		text := string(c.Action) + " " + c.Place.String()
		if c.Previous != nil {
			text += " from " + c.Previous.String()
		}
		all = append(all, fmt.Sprintf("%s %d", text, len(c.Attributes)))
	}
	return all
}

func TestMoves(t *testing.T) {
	for _, tt := range []struct {
		name string
		a, b []byte
		want []string
	}{
		{"by id", stateOf(resource("a", `{"id":"1","x":1}`)), stateOf(resource("module.m/a", `{"id":"1","x":2}`)),
			[]string{"moved module.m.t.a from t.a 1"}},
		{"by content", stateOf(resource("a", `{"x":1}`)), stateOf(resource("b", `{ "x": 1 }`)),
			[]string{"moved t.b from t.a 0"}},
		{"content before id", stateOf(resource("a", `{"id":"same","x":1}`), resource("b", `{"id":"same","x":2}`)),
			stateOf(resource("c", `{"id":"same","x":2}`), resource("d", `{"id":"same","x":1}`)),
			[]string{"moved t.c from t.b 0", "moved t.d from t.a 0"}},
		{"a swap is no move", stateOf(resource("a", `{"id":"1"}`), resource("b", `{"id":"2"}`)),
			stateOf(resource("a", `{"id":"2"}`), resource("b", `{"id":"1"}`)),
			[]string{"changed t.a 1", "changed t.b 1"}},
		{"another id", stateOf(resource("a", `{"id":"1"}`)), stateOf(resource("b", `{"id":"2"}`)),
			[]string{"removed t.a 1", "added t.b 1"}},
		{"two had the id", stateOf(resource("a", `{"id":"1","x":1}`), resource("b", `{"id":"1","x":2}`)),
			stateOf(resource("c", `{"id":"1","x":3}`)),
			[]string{"removed t.a 1", "removed t.b 1", "added t.c 1"}},
		{"one that stayed has the id", stateOf(resource("a", `{"id":"1","x":1}`), resource("b", `{"id":"1","x":2}`)),
			stateOf(resource("b", `{"id":"1","x":2}`), resource("c", `{"id":"1","x":3}`)),
			[]string{"removed t.a 1", "added t.c 1"}},
		{"an id that is none", stateOf(resource("a", `{"id":"none","x":1}`)), stateOf(resource("b", `{"id":"none","x":2}`)),
			[]string{"removed t.a 1", "added t.b 1"}},
		{"another arn", stateOf(resource("a", `{"id":"1","arn":"x"}`)), stateOf(resource("b", `{"id":"1","arn":"y"}`)),
			[]string{"removed t.a 1", "added t.b 1"}},
		{"nothing to know it by", stateOf(resource("a", `{"x":null}`)), stateOf(resource("b", `{"x":null}`)),
			[]string{"removed t.a 1", "added t.b 1"}},
		{"another provider", stateOf(resource("a", `{"id":"1"}`)),
			[]byte(strings.ReplaceAll(string(stateOf(resource("b", `{"id":"1"}`))), "r/h/aws", "r/h/azure")),
			[]string{"removed t.a 1", "added t.b 1"}},
		{"to deposed", stateOf(resource("a", `{"id":"1"}`)),
			[]byte(strings.ReplaceAll(string(stateOf(resource("a", `{"id":"1"}`))), `[{"attr`, `[{"deposed":"1234abcd","attr`)),
			[]string{"moved t.a (deposed 1234abcd) from t.a 0"}},
	} {
		d := Compare(parse(t, tt.a), parse(t, tt.b), Options{})
		if diff := cmp.Diff(tt.want, actions(d)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestValuesAreComparedExactly(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{`1`, `1.0`, true}, {`1`, `10e-1`, true}, {`100`, `1E+2`, true}, {`0`, `-0.0e5`, true}, {`-1`, `1`, false},
		{`0.10`, `0.1`, true},
		{`9007199254740993`, `9007199254740992`, false}, {`0.1`, `0.10000000000000001`, false}, {`1e400`, `1e401`, false},
		{`1e99999999999999999999`, `1e99999999999999999999`, true},
		{`1e99999999999999999999`, `2e99999999999999999999`, false}, {`10`, `1`, false},
		{`"\u00e9"`, `"é"`, true}, {`"a"`, `"a "`, false}, {`"1"`, `1`, false}, {`null`, `""`, false},
		{`null`, `false`, false}, {`true`, `false`, false},
		{`{"a":1,"b":[2]}`, "{ \"b\": [ 2 ],\n\"a\": 1.0}", true}, {`[1,2]`, `[2,1]`, false}, {`{}`, `[]`, false},
		{`[]`, `[null]`, false}, {`"a b"`, `"ab"`, false},
		{`{"a":1,"a":2}`, `{"a":2}`, true}, {`["\""]`, `["\"" ]`, true}, {`"\" b"`, `"\"b"`, false}, {`[1]`, `[1,1]`, false},
		{`{"a":null}`, `{}`, false},
		{strings.Repeat("[", 5000) + strings.Repeat("]", 5000), strings.Repeat("[ ", 5000) + strings.Repeat("]", 5000), true},
		{strings.Repeat("[", 5000) + `1` + strings.Repeat("]", 5000), strings.Repeat("[", 5000) + `2` +
			strings.Repeat("]", 5000), false},
	} {
		if same([]byte(tt.a), []byte(tt.b), nil) != tt.same || same([]byte(tt.b), []byte(tt.a), nil) != tt.same {
			t.Errorf("%.60s and %.60s: want same %v", tt.a, tt.b, tt.same)
		}
	}
}

func TestDiffJSON(t *testing.T) {
	a := []byte(`{"version":4,"terraform_version":"1.5.7","serial":1,"lineage":"l","outputs":{"o":{"value":1,"type":"number"}},"resources":[` +
		resource("a", `{"id":"1","tags":{"a b":"x"},"list":[1,2]}`) + `]}`)
	b := []byte(`{"version":4,"terraform_version":"1.12.6","serial":2,"lineage":"l","outputs":{"o":{"value":2,"type":"number","sensitive":true}},"resources":[` +
		strings.Replace(resource("a", `{"id":"1","tags":{"a b":"y"},"list":[1]}`), `{"attr`, `{"status":"tainted","attr`, 1) +
		`]}`)
	have, err := json.MarshalIndent(Compare(parse(t, a), parse(t, b), Options{}), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	compact := string(appendCompact(nil, have))
	want := `{"masked":true,"summary":{"added":0,"changed":1,"removed":0,"moved":0,"outputs":1},` +
		`"terraform_version":{"before":"1.5.7","after":"1.12.6"},"serial":{"before":1,"after":2},` +
		`"resources":[{"action":"changed","address":"t.a","mode":"managed","type":"t","name":"a",` +
		`"fields":[{"field":"status","after":"tainted"}],` +
		`"attributes":[{"path":["list",1],"before":2},{"path":["tags","a b"],"before":"x","after":"y"}]}],` +
		`"outputs":[{"action":"changed","name":"o","before":{"value":"(sensitive value)","type":"number"},"after":{"value":"(sensitive value)","type":"number","sensitive":true}}]}`
	if diff := cmp.Diff(want, compact); diff != "" {
		t.Error(diff)
	}
}

// A value that either side marks is shown on neither, and its change still shows.
func TestDiffMasksBothSides(t *testing.T) {
	plain := func(v string) string { return `{"attributes":{"a":{"b":"` + v + `"}}}` }
	secret := func(v string) string {
		return `{"attributes":{"a":{"b":"` + v + `"}},"sensitive_attributes":[` + pathAB + `]}`
	}
	for _, tt := range []struct{ a, b string }{{plain("x"), secret("y")}, {secret("x"), plain("y")},
		{secret("x"), secret("y")}} {
		d := Compare(parse(t, one(tt.a)), parse(t, one(tt.b)), Options{})
		want := []AttributeChange{{Path: Path{Named("a"), Named("b")},
			Change: Change{json.RawMessage(Masked), json.RawMessage(Masked)}, Sensitive: true}}
		if diff := cmp.Diff(want, d.Resources[0].Attributes); diff != "" {
			t.Errorf("%s, %s: %s", tt.a, tt.b, diff)
		}
	}
	if d := Compare(parse(t, one(secret("x"))), parse(t, one(secret("x"))), Options{}); !d.Empty() {
		t.Errorf("%+v", d)
	}
	below := Compare(parse(t, one(`{}`)), parse(t, one(secret("y"))), Options{}).Resources[0].Attributes
	if len(below) != 1 || string(below[0].After) != `{"b":"(sensitive value)"}` || !below[0].Sensitive {
		t.Errorf("%+v", below)
	}
}

func TestApplyRefusesAnotherState(t *testing.T) {
	a, b := parse(t, stateOf(resource("a", `{"id":"1"}`))), parse(t, stateOf(resource("a", `{"id":"2"}`)))
	if _, err := Apply(&Document{}, Compare(a, b, Options{Reveal: true})); err == nil {
		t.Error("a change of nothing was applied")
	}
}
