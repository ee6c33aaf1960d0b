package document

import (
	"iter"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// marked returns an instance with these attributes and marks.
func marked(t *testing.T, attributes, marks string) *Instance {
	t.Helper()
	return &parse(t, one(`{"attributes":`+attributes+`,"sensitive_attributes":`+marks+`}`)).Instances[0]
}

const (
	pathA    = `[{"type":"get_attr","value":"a"}]`
	pathAB   = `[{"type":"get_attr","value":"a"},{"type":"get_attr","value":"b"}]`
	pathAKey = `[{"type":"get_attr","value":"a"},{"type":"index","value":{"value":"k k","type":"string"}}]`
	pathA1   = `[{"type":"get_attr","value":"a"},{"type":"index","value":{"value":1,"type":"number"}}]`
	pathASet = `[{"type":"get_attr","value":"a"},{"type":"index","value":{"value":{"p":"x"},"type":["object",{"p":"string"}]}}]`
)

func TestMarksHideWhatTheyLeadTo(t *testing.T) {
	const all = `{"a":"(sensitive value)","z":1}`
	for _, tt := range []struct{ name, marks, attributes, want string }{
		{"attribute", `[` + pathA + `]`, `{"a":{"x":[1]},"z":1}`, all},
		{"null", `[` + pathA + `]`, `{"a":null,"z":1}`, all},
		{"member", `[` + pathAB + `]`, `{"a":{"b":1,"c":2},"z":1}`, `{"a":{"b":"(sensitive value)","c":2},"z":1}`},
		{"key", `[` + pathAKey + `]`, `{"a":{"k k":1,"c":2},"z":1}`, `{"a":{"k k":"(sensitive value)","c":2},"z":1}`},
		{"element", `[` + pathA1 + `]`, `{"a":[0,1,2],"z":1}`, `{"a":[0,"(sensitive value)",2],"z":1}`},
		{"two", `[` + pathAB + `,[{"type":"get_attr","value":"z"}]]`, `{"a":{"b":1},"z":1}`,
			`{"a":{"b":"(sensitive value)"},"z":"(sensitive value)"}`},
		{"inner first", `[` + pathAB + `,` + pathA + `]`, `{"a":{"b":1},"z":1}`, all},
		{"absent", `[[{"type":"get_attr","value":"q"}]]`, `{"a":1,"z":1}`, `{"a":1,"z":1}`},
		{"member twice", `[` + pathAB + `]`, `{"a":{"b":1,"b":2},"a":{"b":3},"z":1}`, all[:len(all)-7] +
			`,"a":"(sensitive value)","z":1}`},
		{"escaped name", `[` + pathA + `]`, `{"\u0061":1,"z":1}`, `{"\u0061":"(sensitive value)","z":1}`},

		{"set", `[` + pathASet + `]`, `{"a":[{"p":"x"}],"z":1}`, all},
		{"wrapped", `[` + pathAB + `]`, `{"a":{"value":{"b":1},"type":"dynamic"},"z":1}`, all},
		{"beyond the end", `[` + pathA1 + `]`, `{"a":[0],"z":1}`, all},
		{"no container", `[` + pathAB + `]`, `{"a":"text","z":1}`, all},
		{"a list by name", `[` + pathAB + `]`, `{"a":[1,2],"z":1}`, all},
		{"an object by number", `[` + pathA1 + `]`, `{"a":{"1":1},"z":1}`, all},
		{"one of two leads nowhere", `[` + pathAB + `,` + pathA1 + `]`, `{"a":{"b":1},"z":1}`, all},
		{"unknown step", `[[{"type":"get_attr","value":"a"},{"type":"splat","value":null}]]`, `{"a":{"b":1},"z":1}`, all},
		{"odd index", `[[{"type":"get_attr","value":"a"},{"type":"index","value":0}]]`, `{"a":[1],"z":1}`, all},
		{"negative", `[[{"type":"get_attr","value":"a"},{"type":"index","value":{"value":-1,"type":"number"}}]]`,
			`{"a":[1],"z":1}`, all},
		{"null step", `[[{"type":"get_attr","value":"a"},{"type":"get_attr","value":null}]]`, `{"a":{"":1},"z":1}`, all},

		{"everything", `[[]]`, `{"a":1,"z":1}`, `{"a":"(sensitive value)","z":"(sensitive value)"}`},
		{"index first", `[[{"type":"index","value":{"value":"a","type":"string"}}]]`, `{"a":1,"z":1}`,
			`{"a":"(sensitive value)","z":"(sensitive value)"}`},
		{"no list", `{"a":1}`, `{"a":1,"z":1}`, `{"a":"(sensitive value)","z":"(sensitive value)"}`},
		{"no path", `["a"]`, `{"a":1,"z":1}`, `{"a":"(sensitive value)","z":"(sensitive value)"}`},

		{"echo", `[` + pathAB + `]`, `{"a":{"b":"hunter2"},"c":[{"d":"hunter2"}],"z":1}`,
			`{"a":{"b":"(sensitive value)"},"c":[{"d":"(sensitive value)"}],"z":1}`},
		{"echo of a part", `[` + pathA + `]`, `{"a":{"b":["hunter2"]},"c":"hunter2","z":1}`,
			`{"a":"(sensitive value)","c":"(sensitive value)","z":1}`},
		{"too short to be an echo", `[` + pathA + `]`, `{"a":"eu1","c":"eu1","z":1}`,
			`{"a":"(sensitive value)","c":"eu1","z":1}`},
		{"echo of a number", `[` + pathA + `]`, `{"a":4711,"c":[4711,true,47110],"z":-4711}`,
			`{"a":"(sensitive value)","c":["(sensitive value)",true,47110],"z":-4711}`},
		{"echo of a fraction", `[` + pathA + `]`, `{"a":-1.234,"c":-1.234,"z":1}`,
			`{"a":"(sensitive value)","c":"(sensitive value)","z":1}`},
		{"number too short to be an echo", `[` + pathA + `]`, `{"a":-0.25,"c":-0.25,"z":1}`,
			`{"a":"(sensitive value)","c":-0.25,"z":1}`},
		{"echo of a wrapped number", `[` + pathA + `]`,
			`{"a":{"value":48151623,"type":"number"},"c":{"value":48151623,"type":"number"},"z":"number"}`,
			`{"a":"(sensitive value)","c":"(sensitive value)","z":"number"}`},
		{"echo of a wrapped boolean", `[` + pathA + `]`,
			`{"a":{"value":true,"type":"bool"},"c":{ "value": true, "type": "bool" },"z":true}`,
			`{"a":"(sensitive value)","c":"(sensitive value)","z":true}`},
		{"echo of a wrapped tuple", `[` + pathA1 + `]`,
			`{"a":{"value":["hunter2",4711,true],"type":["tuple",["string","number","bool"]]},"c":{"value":["hunter2",4711,true],"type":["tuple",["string","number","bool"]]},"z":1}`,
			`{"a":"(sensitive value)","c":"(sensitive value)","z":1}`},
		{"echo of a part of what is wrapped", `[` + pathA + `]`,
			`{"a":{"value":{"p":"hunter2"},"type":["object",{"p":"string"}]},"c":{"value":["hunter2","string"],"type":["tuple",["string","string"]]},"z":1}`,
			`{"a":"(sensitive value)","c":{"value":["(sensitive value)","string"],"type":["tuple",["string","string"]]},"z":1}`},
		{"other value in the same wrapper", `[` + pathA + `]`,
			`{"a":{"value":true,"type":"bool"},"c":{"value":false,"type":"bool"},"z":1}`,
			`{"a":"(sensitive value)","c":{"value":false,"type":"bool"},"z":1}`},
		{"an object of somebody's own", `[` + pathA + `]`, `{"a":{"value":1,"type":"hunter2"},"c":"hunter2","z":1}`,
			`{"a":"(sensitive value)","c":"(sensitive value)","z":1}`},
	} {
		i := marked(t, tt.attributes, tt.marks)
		have, _ := i.marks().apply(i.Attributes)
		if diff := cmp.Diff(tt.want, string(have)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// The element of a set stands in the path itself.
func TestShownMarksHoldNoValues(t *testing.T) {
	for _, tt := range []struct{ marks, attributes, want string }{
		{`[` + pathAB + `]`, `{"a":{"b":1}}`, `[` + pathAB + `]`},
		{`[` + pathASet + `]`, `{"a":[{"p":"x"}]}`, `[` + pathA + `]`},
		{`[` + pathASet + `, ` + pathASet + `]`, `{"a":[{"p":"x"}]}`, `[` + pathA + `,` + pathA + `]`},
		{`[` + pathAKey + `]`, `{"a":["k k"]}`, `[` + pathA + `]`},
		{`[[{"type":"x","value":"secret"}]]`, `{"a":1}`, `[` + pathA + `]`},
		{`[[{"type":"x","value":"secret"}]]`, `{}`, `[]`},
		{`{"secret":1}`, `{"a":1}`, `[[]]`},
		{`"secret"`, `{"a":1}`, `[[]]`},
	} {
		if have := string(marked(t, tt.attributes, tt.marks).shownMarks()); have != tt.want {
			t.Errorf("%s: %s, want %s", tt.marks, have, tt.want)
		}
	}
}

func merged(all ...iter.Seq2[string, string]) map[string]string {
	out := map[string]string{}
	for _, one := range all {
		maps.Insert(out, one)
	}
	return out
}

func TestScalarsLeaveOutWhatIsSensitive(t *testing.T) {
	i := marked(t, `{"id":"i-1","n":1.50,"on":true,"null":null,"list":[],"a":"secret","tags":{"k":"v","b":2},"b":{"c":1}}`,
		`[`+pathA+`]`)
	want := map[string]string{"id": "i-1", "n": "1.50", "on": "true"}
	if diff := cmp.Diff(want, maps.Collect(i.Scalars())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"k": "v", "b": "2"}, maps.Collect(i.Tags())); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{"id": "i-1", "n": "1.50", "a": "", "list": "", "absent": ""} {
		if have, ok := i.Attribute(name); have != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", name, have, ok)
		}
	}
	for range i.Scalars() {
		break // must not be called again
	}
	echoed := marked(t, `{"id":"i-1","port":48151623,"a":48151623,"tags":{"pin":48151623,"k":"v"}}`, `[`+pathA+`]`)
	if diff := cmp.Diff(map[string]string{"id": "i-1", "k": "v"}, merged(echoed.Scalars(), echoed.Tags())); diff != "" {
		t.Error(diff)
	}
	one := marked(t, `{"tags":{"k":"v","b":"x"}}`,
		`[[{"type":"get_attr","value":"tags"},{"type":"index","value":{"value":"k","type":"string"}}]]`)
	if diff := cmp.Diff(map[string]string{"b": "x"}, maps.Collect(one.Tags())); diff != "" {
		t.Error(diff)
	}
	all := marked(t, `{"tags":{"k":"v"}}`, `[[{"type":"get_attr","value":"tags"}]]`)
	if have := maps.Collect(all.Tags()); len(have) > 0 {
		t.Error(have)
	}
}
