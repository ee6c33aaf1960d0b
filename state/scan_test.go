package state

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/fault"
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
		{"lineage far too long", `{"lineage":"` + strings.Repeat(`\u0061`, 1e5) + `"}`, "lineage is not a string of up to 255"},
		{"serial twice", `{"serial":1,"serial":1}`, `more than one "serial"`},
		{"serial twice, once escaped", `{"serial":1,"\u0073erial":2}`, `more than one "serial"`},
		{"serial twice, once null", `{"serial":null,"serial":2}`, `more than one "serial"`},
		{"lineage twice", `{"lineage":"a","lineage":"b"}`, `more than one "lineage"`},
		{"version twice", `{"terraform_version":"a","terraform_version":1}`, `more than one "terraform_version"`},
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
