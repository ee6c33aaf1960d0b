package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func outputsOf(t testing.TB, body []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := WriteOutputs(&out, body, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func redacted(t testing.TB, body []byte) string {
	t.Helper()
	var out bytes.Buffer
	if err := WriteRedacted(&out, body, nil); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestOutputsView(t *testing.T) {
	body := `{"version":4,"terraform_version":"1.9.0","serial":7,"lineage":"l","outputs":{"a":{"value":[1.50,"x"],"type":["tuple",["number","string"]]},` +
		`"s":{"value":"v","type":"string","sensitive":true}},"resources":[{"mode":"managed","type":"t","name":"n","instances":[{"attributes":{"id":"hidden"}}]}],"check_results":[]}`
	want := `{
  "version": 4,
  "terraform_version": "1.9.0",
  "serial": 7,
  "lineage": "l",
  "outputs": {"a":{"value":[1.50,"x"],"type":["tuple",["number","string"]]},"s":{"value":"v","type":"string","sensitive":true}},
  "resources": [],
  "check_results": null
}
`
	if diff := cmp.Diff(want, string(outputsOf(t, []byte(body)))); diff != "" {
		t.Error(diff)
	}
	bare := outputsOf(t, []byte(`{"version":4,"outputs":null}`))
	if want := "{\n  \"version\": 4,\n  \"outputs\": {},\n  \"resources\": [],\n  \"check_results\": null\n}\n"; string(bare) != want {
		t.Errorf("%s", bare)
	}
}

// The values of the outputs view are the state's own bytes, and no resource is in it.
func TestOutputsViewIsExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := &world{t: rt}
		body := w.write(w.first())
		have, want := mustParse(rt, outputsOf(t, body)), mustParse(rt, body)
		want.Instances = want.Instances[:0]
		if diff := cmp.Diff(want, have, cmp.AllowUnexported(Instance{}, Key{}), cmpopts.EquateEmpty()); diff != "" {
			rt.Fatal(diff)
		}
	})
}

// The redacted view is a state with the same objects, without secrets, and the same bytes
// but for what was masked.
func TestRedactedView(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := &world{t: rt}
		body := w.write(w.first())
		shown := redacted(t, body)
		if strings.Contains(shown, secret) || strings.Contains(shown, "c2VjcmV0") {
			rt.Fatalf("%s\nof\n%s", shown, body)
		}
		before, after := mustParse(rt, body), mustParse(rt, []byte(shown))
		if diff := Compare(before, after, Options{}); diff.Summary.Added+diff.Summary.Removed+diff.Summary.Moved > 0 {
			rt.Fatalf("%+v", diff.Summary)
		}
		if again := redacted(t, []byte(shown)); again != shown {
			rt.Fatalf("redacted twice:\n%s\nonce:\n%s", again, shown)
		}
		for _, d := range Compare(before, after, Options{Reveal: true}).Resources {
			for _, c := range d.Attributes {
				if !strings.Contains(string(c.After), "(sensitive value)") || !strings.Contains(string(c.Before), secret) &&
					!strings.HasPrefix(c.Path[0].Name, "secret") {
					rt.Fatalf("%s: %s -> %s", c.Path, c.Before, c.After)
				}
			}
		}
	})
}

func TestRedactedViewKeepsOtherBytes(t *testing.T) {
	body := `{ "version":4, "outputs":{"a":{"value": 1.0 ,"type":"number"},"s":{"type":["list","string"],"sensitive":true,"value":["v"]}},
 "resources":[{"mode":"managed","type":"t","name":"n","unknown":{"x":[1, 2]},
  "instances":[{"index_key":"k","private":"cA==","sensitive_attributes":[[{"type":"get_attr","value":"pw"}]],
   "attributes":{"id":"\u0069-1","pw":{"x":[1]},"z":1.10}}]}], "check_results": [ ] }
`
	want := strings.NewReplacer(`["list","string"]`, `"string"`, `["v"]`, Masked, `"cA=="`, `""`, `{"x":[1]}`,
		Masked).Replace(body)
	if diff := cmp.Diff(want, redacted(t, []byte(body))); diff != "" {
		t.Error(diff)
	}
}

func TestRedactedFlatAttributesStayStrings(t *testing.T) {
	body := `{"version":4,"resources":[{"mode":"managed","type":"t","name":"n","instances":[{"attributes_flat":{"id":"i","db.0.password":"v"},` +
		`"sensitive_attributes":[[{"type":"get_attr","value":"db"},{"type":"index","value":{"value":0,"type":"number"}},{"type":"get_attr","value":"password"}]]}]}]}`
	var state struct {
		Resources []struct {
			Instances []struct {
				Flat map[string]string `json:"attributes_flat"`
			}
		}
	}
	if err := json.Unmarshal([]byte(redacted(t, []byte(body))), &state); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"id": "(sensitive value)", "db.0.password": "(sensitive value)"}
	if diff := cmp.Diff(want, state.Resources[0].Instances[0].Flat); diff != "" {
		t.Error(diff)
	}
}

// A state that is refused leaves nothing written, so that the answer can still be an error.
func TestViewsWriteNothingOfWhatTheyRefuse(t *testing.T) {
	for _, body := range []string{`[]`, `{"version":4,"outputs":{"a":1}}`, `{"version":3}`,
		`{"encrypted_data":"x","serial":1}`} {
		var out bytes.Buffer
		if WriteOutputs(&out, []byte(body), nil) == nil || WriteRedacted(&out, []byte(body), nil) == nil || out.Len() > 0 {
			t.Errorf("%s: %q", body, out.String())
		}
	}
}

type brokenPipe struct{ left int }

func (b *brokenPipe) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errors.New("broken pipe")
	}
	return len(p), nil
}

func TestViewsReportTheWritersError(t *testing.T) {
	body := readFile(t, "tofu-2.tfstate")
	for name, write := range map[string]func(*brokenPipe) error{
		"outputs":  func(w *brokenPipe) error { return WriteOutputs(w, body, nil) },
		"redacted": func(w *brokenPipe) error { return WriteRedacted(w, body, nil) },
		"text": func(w *brokenPipe) error {
			return Compare(&Document{}, parse(t, body), Options{}).WriteText(w, nil)
		},
	} {
		for _, left := range []int{0, 1, 100, 1000} {
			if write(&brokenPipe{left}) == nil {
				t.Errorf("%s: no error after %d bytes", name, left)
			}
		}
	}
}
