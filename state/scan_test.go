package state

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
	"github.com/holdfast/holdfast/state/document"
)

func TestScan(t *testing.T) {
	long := strings.Repeat("ä", maxText)
	tests := []struct {
		name string
		body string
		want Summary
	}{
		{"empty object", `{}`, Summary{}},
		{"version 4", `{"version":4,"terraform_version":"1.9.0","serial":7,"lineage":"a-b","outputs":{},"resources":[]}`,
			Summary{Serial: 7, Lineage: "a-b", TerraformVersion: "1.9.0"}},
		{"indented", "\r\n{\n  \"serial\": 1,\n\t\"lineage\": \"l\"\n}\n", Summary{Serial: 1, Lineage: "l"}},
		{"encrypted", `{"serial":3,"lineage":"l","meta":{"k":"v"},"encrypted_data":"c2VjcmV0","encryption_version":"v0"}`,
			Summary{Serial: 3, Lineage: "l", Encrypted: true}},
		{"encrypted data beside a version", `{"version":4,"encrypted_data":"x"}`, Summary{}},
		{"encrypted data beside resources", `{"encrypted_data":"x","resources":[]}`, Summary{}},
		{"largest serial", `{"serial":18446744073709551615}`, Summary{Serial: 1<<64 - 1}},
		{"zero serial", `{"serial":0}`, Summary{}},
		{"nulls", `{"serial":null,"lineage":null,"terraform_version":null,"encrypted_data":null}`, Summary{}},
		{"escaped name", `{"se\u0072ial":5}`, Summary{Serial: 5}},
		{"escaped lineage", `{"lineage":"\u0061\n\ud83d\ude00"}`, Summary{Lineage: "a\n😀"}},
		{"names in other case are others", `{"Serial":1,"serial":2,"LINEAGE":3}`, Summary{Serial: 2}},
		{"not at the top level", `{"outputs":{"serial":9,"lineage":[],"encrypted_data":1},"serial":2}`, Summary{Serial: 2}},
		{"longest lineage", `{"lineage":"` + long + `"}`, Summary{Lineage: long}},
		{"longest lineage in escapes", `{"lineage":"` + strings.Repeat(`\ud83d\ude00`, maxText) + `"}`,
			Summary{Lineage: strings.Repeat("😀", maxText)}},
		{"version of another type", `{"terraform_version":1.9}`, Summary{}},
		{"version too long", `{"terraform_version":"` + long + `x"}`, Summary{}},
		{"other members twice", `{"check":1,"check":2}`, Summary{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Scan([]byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Summary (-want +got):\n%s", diff)
			}
		})
	}
}

func TestScanRefuses(t *testing.T) {
	tests := []struct {
		name, body, message string
	}{
		{"empty", "", "the body is empty"},
		{"white space", " \n", "at byte offset 2"},
		{"array", `[{"serial":1}]`, "an array starts at byte offset 0"},
		{"string", ` "hunter2"`, "a string starts at byte offset 1"},
		{"null", `null`, "null starts at byte offset 0"},
		{"form", `serial=1`, "at byte offset 0"},
		{"byte order mark", "\ufeff{}", "at byte offset 0"},
		{"trailing data", `{"serial":1} {}`, "data after the object at byte offset 13"},
		{"truncated", `{"serial":1`, "at byte offset 11"},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", "invalid UTF-8 at byte offset 6"},
		{"half a surrogate pair", `{"a":"\ud800"}`, "at byte offset 6"},
		{"serial with a fraction", `{"serial":1.0}`, "serial is not a plain integer"},
		{"serial with an exponent", `{"serial":1e3}`, "serial is not a plain integer"},
		{"negative serial", `{"serial":-1}`, "serial is not a plain integer"},
		{"negative zero", `{"serial":-0}`, "serial is not a plain integer"},
		{"serial as a string", `{"serial":"1"}`, "serial is not a plain integer"},
		{"serial as a boolean", `{"serial":true}`, "serial is not a plain integer"},
		{"serial as a container", `{"serial":[1]}`, "serial is not a plain integer"},
		{"serial too large", `{"serial":18446744073709551616}`, "serial does not fit"},
		{"serial with a million digits", `{"serial":1` + strings.Repeat("0", 1e6) + `}`, "serial does not fit"},
		{"serial with a leading zero", `{"serial":01}`, "at byte offset 11"},
		{"lineage as a number", `{"lineage":1}`, "lineage is not a string"},
		{"lineage as an object", `{"lineage":{}}`, "lineage is not a string"},
		{"lineage too long", `{"lineage":"` + strings.Repeat("a", maxText+1) + `"}`, "lineage is not a string of up to 255"},
		{"lineage far too long", `{"lineage":"` + strings.Repeat(`\u0061`, 1e5) + `"}`,
			"lineage is not a string of up to 255"},
		{"serial twice", `{"serial":1,"serial":1}`, `more than one "serial"`},
		{"serial twice, once escaped", `{"serial":1,"\u0073erial":2}`, `more than one "serial"`},
		{"serial twice, once null", `{"serial":null,"serial":2}`, `more than one "serial"`},
		{"lineage twice", `{"lineage":"a","lineage":"b"}`, `more than one "lineage"`},
		{"version twice", `{"terraform_version":"a","terraform_version":1}`, `more than one "terraform_version"`},
		{"lock info", `{"ID":"a","Operation":"OperationTypeApply","Info":"","Who":"ada@engine","Version":"1.12.6",` +
			`"Created":"2026-11-21T02:53:01.5Z","Path":""}`, "the body is a LockInfo and no state"},
		{"lock info with its ID alone", `{"ID":"a"}`, "the body is a LockInfo and no state"},
		{"encrypted data twice", `{"encrypted_data":"a","encrypted_data":"b"}`, `more than one "encrypted_data"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Scan([]byte(tt.body))
			if !fault.Is(err, fault.StateInvalid) {
				t.Fatalf("error %v, want one with %s", err, fault.StateInvalid)
			}
			if got != (Summary{}) {
				t.Errorf("Summary %+v beside an error", got)
			}
			if message := fault.From(err).Message; !strings.Contains(message, tt.message) {
				t.Errorf("message %q, want one with %q", message, tt.message)
			}
		})
	}
}

// TestScanKeepsSecrets plants a secret beside every kind of fault.
func TestScanKeepsSecrets(t *testing.T) {
	const secret = "hunter2"
	for _, body := range []string{
		secret, `"` + secret + `"`, `{"` + secret, `{"` + secret + `"}`, `{"a":` + secret + `}`,
		`{"a":"` + secret + "\x00\"}", `{"a":"\` + secret + `"}`, `{"a":"` + secret + "\xff\"}", `{}` + secret,
		`{"serial":"` + secret + `"}`, `{"lineage":["` + secret + `"]}`, `{"lineage":"` + strings.Repeat(secret, 99) + `"}`,
		`{"lineage":"` + secret + `","lineage":"` + secret + `"}`,
	} {
		_, err := Scan([]byte(body))
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("Scan(%q): %v", body, err)
		}
	}
}

// stateSketch has the members that Scan reads, as a client's decoder would.
type stateSketch struct {
	Serial           uint64         `json:"serial"`
	Lineage          string         `json:"lineage"`
	TerraformVersion string         `json:"terraform_version,omitempty"`
	Outputs          map[string]any `json:"outputs"`
}

// TestScanAgrees writes objects with encoding/json and compares what Scan finds with what
// went in, whatever stands in the other members.
func TestScanAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sketch := stateSketch{
			Serial:           rapid.Uint64().Draw(t, "serial"),
			Lineage:          rapid.StringN(0, maxText, -1).Draw(t, "lineage"),
			TerraformVersion: rapid.StringN(0, maxText, -1).Draw(t, "version"),
			Outputs:          rapid.MapOf(rapid.String(), anyValue(3)).Draw(t, "outputs"),
		}
		body, err := json.Marshal(sketch)
		if rapid.Bool().Draw(t, "indented") {
			body, err = json.MarshalIndent(sketch, "", "  ")
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := Scan(body)
		if err != nil {
			t.Fatalf("Scan(%q): %v", body, err)
		}
		// A lineage that is not UTF-8 was mended by the encoder.
		if err := json.Unmarshal(body, &sketch); err != nil {
			t.Fatal(err)
		}
		want := Summary{Serial: sketch.Serial, Lineage: sketch.Lineage, TerraformVersion: sketch.TerraformVersion}
		if got != want {
			t.Fatalf("Scan(%q) = %+v, want %+v", body, got, want)
		}
	})
}

// anyValue generates values as deep as depth, with names that Scan looks for among them.
func anyValue(depth int) *rapid.Generator[any] {
	scalars := rapid.OneOf(rapid.String().AsAny(), rapid.Float64().AsAny(), rapid.Int64().AsAny(), rapid.Bool().AsAny(),
		rapid.Just[any](nil))
	if depth == 0 {
		return scalars
	}
	inner := anyValue(depth - 1)
	names := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"serial", "lineage", "encrypted_data"}))
	return rapid.OneOf(scalars, rapid.SliceOfN(inner, 0, 4).AsAny(), rapid.MapOfN(names, inner, 0, 4).AsAny())
}

// FuzzScan compares Scan with two decoders: what it takes is an object for the strict
// one, and its serial and lineage are those that a client's decoder reads. It also compares
// survey with what it stands for.
func FuzzScan(f *testing.F) {
	fuzzseeds.Add(f)
	f.Add([]byte(`{"version":4,"terraform_version":"1.9.0","serial":7,"lineage":"\u0061","resources":[{}]}`))
	f.Add([]byte(`{"serial":18446744073709551615,"lineage":null,"encrypted_data":"x"}`))
	f.Add([]byte(`{"se\u0072ial":1e3}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		wantSurvey(t, body)
		got, err := Scan(body)
		if err != nil {
			if !fault.Is(err, fault.StateInvalid) {
				t.Fatalf("Scan(%q): %v", body, err)
			}
			return
		}
		if !jsontext.Value(body).IsValid(jsontext.AllowDuplicateNames(true)) {
			t.Fatalf("Scan(%q): taken, but jsontext refuses it", body)
		}
		// A map, because a struct takes names in any case.
		var members map[string]json.RawMessage
		if err := json.Unmarshal(body, &members); err != nil {
			t.Fatalf("Scan(%q): taken, but: %v", body, err)
		}
		var want stateSketch
		for name, to := range map[string]any{"serial": &want.Serial, "lineage": &want.Lineage} {
			if value, ok := members[name]; ok {
				if err := json.Unmarshal(value, to); err != nil {
					t.Fatalf("Scan(%q): taken, but %s: %v", body, name, err)
				}
			}
		}
		if got.Serial != want.Serial || got.Lineage != want.Lineage {
			t.Fatalf("Scan(%q) = %+v, want %+v", body, got, want)
		}
	})
}

// bigState returns a state of about n bytes, indented as Terraform does.
func bigState(n int) []byte {
	const resource = `
    {
      "mode": "managed",
      "type": "aws_s3_bucket_policy",
      "instances": [
        {
          "attributes": {
            "policy": "{\"Version\":\"2012-10-17\"}",
            "id": "artifacts"
          }
        }
      ]
    }`
	return []byte("{\n  \"version\": 4,\n  \"terraform_version\": \"1.9.8\",\n  \"serial\": 4711,\n" +
		"  \"lineage\": \"3f0c2f51-6d0a-7c0d-9a3e-0f4c1b7d2e65\",\n  \"resources\": [" +
		strings.Repeat(resource+",", n/len(resource)) + resource + "\n  ]\n}\n")
}

// TestScanAllocates two strings, the lineage and the version, whatever the body's size.
func TestScanAllocates(t *testing.T) {
	for _, n := range []int{1 << 10, 1 << 20} {
		body := bigState(n)
		allocs := testing.AllocsPerRun(10, func() {
			if s, err := Scan(body); err != nil || s.Serial != 4711 {
				t.Fatalf("%+v, %v", s, err)
			}
		})
		if allocs > 2 {
			t.Errorf("%v allocations for %d bytes, want 2", allocs, len(body))
		}
	}
}

// TestSurvey wants of one pass what two find out.
func TestSurvey(t *testing.T) {
	bodies := []string{
		string(bigState(1 << 10)), "", "{}", "[]", `{"version":4}`, `{"version":4,"serial":1,"serial":2}`,
		`{"version":4,"serial":-1,"resources":[]}`, `{"version":4,"lineage":7}`,
		`{"version":4,"lineage":null,"terraform_version":"1.9"}`,
		`{"version":4,"resources":[{"mode":"managed","instances":[{},{}]},{"mode":"data","instances":[{}]}],"serial":7}`,
		`{"version":4,"resources":[{"mode":"odd"}],"lineage":"l"}`, `{"version":4,"resources":[],"resources":[]}`,
		`{"version":3,"serial":9,"modules":[]}`, `{"serial":3,"lineage":"l","encrypted_data":"x"}`,
		`{"version":4,"encrypted_data":"x","resources":[]}`, `{"version":4,"resources":[{"mode":"managed"`, `{"version":4} x`,
		`{"version":4,"\u0073erial":5}`,
	}
	for _, body := range bodies {
		wantSurvey(t, []byte(body))
	}
}

func wantSurvey(t *testing.T, body []byte) {
	t.Helper()
	summary, resources, err := survey(body)
	want, wantErr := Scan(body)
	count := -1
	if counts, err := document.CountOf(body); wantErr == nil && err == nil {
		count = counts.Managed.Instances
	}
	if summary != want || fmt.Sprint(err) != fmt.Sprint(wantErr) || resources != count {
		t.Errorf("%.200q: %+v, %d, %v\nwant %+v, %d, %v", body, summary, resources, err, want, count, wantErr)
	}
}

func BenchmarkSurvey(b *testing.B) {
	body := bigState(1 << 20)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := survey(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	body := bigState(1 << 20)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Scan(body); err != nil {
			b.Fatal(err)
		}
	}
}
