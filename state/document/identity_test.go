package document

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// identified is a state with one instance that has the marks of pathA.
func identified(attributes, identity string) []byte {
	return one(`{"attributes":` + attributes + `,"identity":` + identity + `,"sensitive_attributes":[` + pathA + `]}`)
}

func TestIdentityHidesWhatTheAttributesHide(t *testing.T) {
	for _, tt := range []struct{ name, attributes, identity, want string }{
		{"echo", `{"a":"hunter2"}`, `{"tok":"hunter2","id":"i-1"}`, `{"tok":"(sensitive value)","id":"i-1"}`},
		{"number", `{"a":{"value":[48151623],"type":["list","number"]}}`, `{"n":48151623,"m":1}`,
			`{"n":"(sensitive value)","m":1}`},
		{"deep", `{"a":"hunter2"}`, `{"x":[{"y":"hunter2"}]}`, `{"x":[{"y":"(sensitive value)"}]}`},
		{"same name", `{"a":"eu1"}`, `{"a":"eu1","b":"eu1"}`, `{"a":"(sensitive value)","b":"eu1"}`},
		{"bare", `{"a":"hunter2"}`, `"hunter2"`, `"(sensitive value)"`},
		{"nothing", `{"a":"hunter2"}`, `{"id":"hunter"}`, `{"id":"hunter"}`},
		{"null", `{"a":"hunter2"}`, `null`, `null`},
	} {
		shown := redacted(t, identified(tt.attributes, tt.identity))
		if !strings.Contains(shown, `"identity":`+tt.want+`,`) {
			t.Errorf("%s: %s, want the identity %s", tt.name, shown, tt.want)
		}
	}
	open := string(one(`{"attributes":{"a":"hunter2"},"identity":{"a":"hunter2"}}`))
	if diff := cmp.Diff(open, redacted(t, []byte(open))); diff != "" {
		t.Errorf("without marks: %s", diff)
	}
}

// A change shows the identity of neither side with what either side hides.
func TestDiffHidesInIdentity(t *testing.T) {
	unmarked := one(`{"attributes":{"a":"hunter2"},"identity":{"tok":"hunter2","id":"i-1"}}`)
	for name, tt := range map[string]struct {
		before, after []byte
		want          string
	}{
		"both marked": {identified(`{"a":"hunter2"}`, `{"tok":"hunter2"}`),
			identified(`{"a":"hunter3"}`, `{"tok":"hunter3"}`),
			`{"before":{"tok":"(sensitive value)"},"after":{"tok":"(sensitive value)"}}`},
		"marked late": {unmarked, identified(`{"a":"hunter2"}`, `{"tok":"hunter2","id":"i-2"}`),
			`{"before":{"tok":"(sensitive value)","id":"i-1"},"after":{"tok":"(sensitive value)","id":"i-2"}}`},
		"marked early": {identified(`{"a":"hunter2"}`, `{"id":"i-2"}`), unmarked,
			`{"before":{"id":"i-2"},"after":{"tok":"(sensitive value)","id":"i-1"}}`},
	} {
		a, b := parse(t, tt.before), parse(t, tt.after)
		var shown, revealed []byte
		for c := range ChangesAt(a, b, a.Instances[0].Address, Options{}) {
			for _, f := range c.Fields {
				if f.Field == "identity" {
					shown, _ = json.Marshal(f.Change)
				}
			}
		}
		if diff := cmp.Diff(tt.want, string(shown)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		var text bytes.Buffer
		if err := WriteText(&text, a, b, Options{}, nil); err != nil || strings.Contains(text.String(), "hunter") {
			t.Errorf("%s: %v\n%s", name, err, &text)
		}
		revealed, _ = json.Marshal(Compare(a, b, Options{Reveal: true}))
		if !bytes.Contains(revealed, []byte(`"tok":"hunter`)) {
			t.Errorf("%s, revealed: %s", name, revealed)
		}
	}
}
