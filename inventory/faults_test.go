package inventory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

func TestFaults(t *testing.T) {
	tests := []struct {
		name, body string
		want       []string // pointers
	}{
		{"nothing", `{}`, []string{"/provider", "/category", "/resource_type", "/instances"}},
		{"null words", `{"provider":null,"category":null,"resource_type":null,"instances":null}`,
			[]string{"/provider", "/category", "/resource_type", "/instances"}},
		{"words of other kinds",
			`{"provider":1,"category":{"a":[{}]},"resource_type":[["x"]],"instances":[{"resource_name":"a"}]}`,
			[]string{"/provider", "/category", "/resource_type"}},
		{"words of other characters",
			`{"provider":"a b","category":"é","resource_type":"a.b","instances":[{"resource_name":"a"}]}`,
			[]string{"/provider", "/category", "/resource_type"}},
		{"a report's name that is none", `{"name":{"a":1},` + head + `,"instances":[{}]}`, []string{"/name"}},
		{"instances that are an object", `{` + head + `,"instances":{"a":{"attributes":[]},"0":{"resource_name":7}}}`,
			[]string{"/instances"}},
		{"instances that are a string", `{` + head + `,"instances":"x"}`, []string{"/instances"}},
		{"instances of other kinds", list(`1`, `"x"`, `null`, `[{"attributes":1}]`, `{"resource_name":"a"}`, `true`),
			[]string{"/instances/0", "/instances/1", "/instances/2", "/instances/3", "/instances/5"}},
		{"names of other kinds", list(`{"resource_name":1}`, `{"resource_name":["x"]}`, `{"resource_name":{}}`),
			[]string{"/instances/0/resource_name", "/instances/1/resource_name", "/instances/2/resource_name"}},
		{"attributes of other kinds",
			list(`{"attributes":[{"a":"b"}]}`, `{"attributes":"x"}`, `{"properties":1}`, `{"attributes":false}`),
			[]string{"/instances/0/attributes", "/instances/1/attributes", "/instances/2/properties",
				"/instances/3/attributes"}},
		{"both words for attributes",
			list(`{"attributes":{"a":1},"properties":{"":1}}`, `{"properties":{},"attributes":[1]}`),
			[]string{"/instances/0/properties", "/instances/1/attributes"}},
		{"both forms", `{` + head + `,"resource_name":"a","properties":{},"instances":[{}]}`,
			[]string{"/resource_name", "/properties"}},
		{"all at once", `{"provider":"a/b","category":"compute","name":7,"instances":[{"resource_name":"","attributes":{"":1,"a/b~c":"` + strings.Repeat("x", 10_001) + `"}},3,{"attributes":[]}]}`,
			[]string{"/provider", "/name", "/instances/0/resource_name", "/instances/0/attributes/",
				"/instances/0/attributes/a~1b~0c", "/instances/1", "/instances/2/attributes", "/resource_type"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			upload, err := inventory.Parse([]byte(tt.body))
			if !fault.Is(err, fault.UploadInvalid) || upload.Resources != nil {
				t.Fatalf("%v, %v", upload, err)
			}
			var got []string
			for _, detail := range details(err) {
				got = append(got, detail.Pointer)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestFaultsAreCapped(t *testing.T) {
	_, err := inventory.Parse([]byte(list(times(73, `{"resource_name":%d}`))))
	if len(details(err)) != 50 || !strings.Contains(err.Error(), "73 places, of which the first 50") {
		t.Errorf("%d details, %v", len(details(err)), err)
	}
}

func TestMalformed(t *testing.T) {
	tests := []struct{ body, pointer, rule string }{
		{``, "", "not valid JSON"},
		{`[]`, "", "not an array"},
		{`{"provider":"aws"`, "/provider", "unexpected end"},
		{`{"provider":"aws"} x`, "", "data after the object"},
		{`{"provider":"a","provider":"b"}`, "/provider", "once in its object"},
		{list(`{"attributes":{"a":1,"\u0061":2}}`), "/instances/0/attributes/a", "once in its object"},
		{list(`{"attributes":{"a":"\u0000"}}`), "/instances/0/attributes/a", "NUL"},
		{"{\"provider\":\"\xff\"}", "/provider", "invalid UTF-8"},
		{`{"provider":"\ud800"}`, "/provider", "half a surrogate"},
	}
	for _, tt := range tests {
		_, err := inventory.Parse([]byte(tt.body))
		if !fault.Is(err, fault.UploadMalformed) {
			t.Errorf("%s: %v", tt.body, err)
			continue
		}
		if d := details(err); len(d) != 1 || d[0].Pointer != tt.pointer || !strings.Contains(d[0].Rule, tt.rule) {
			t.Errorf("%s: %q", tt.body, d)
		}
	}
}

// Scenario: an attribute holds a password, and something about it is wrong. Its value
// must not come back in the answer, which ends up in logs.
func TestFaultsDoNotShowValues(t *testing.T) {
	secret := "hunter2"
	for _, body := range []string{
		list(`{"resource_name":["` + secret + `"],"attributes":{"password":"` + strings.Repeat(secret, 2000) + `"}}`),
		list(`{"attributes":"` + secret + `"}`),
		list(`{"attributes":{"password":"` + secret + `\u0000"}}`),
		list(`{"attributes":{"password":"` + secret + "\xff" + `"}}`),
		list(`{"attributes":{"password":"` + secret),
		list(`{"attributes":{"password":"` + secret + `"},"attributes":1}`),
	} {
		_, err := inventory.Parse([]byte(body))
		if shown := fmt.Sprint(err, details(err)); err == nil || strings.Contains(shown, secret) {
			t.Errorf("%.60s: %s", body, shown)
		}
	}
}
