package inventory_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/inventory"
)

// head are the words that every upload has.
const head = `"provider":"aws","category":"compute","resource_type":"vm"`

// list is an upload of these instances.
func list(instances ...string) string {
	return "{" + head + `,"instances":[` + strings.Join(instances, ",") + "]}"
}

func resource(name, attributes string) inventory.Resource {
	return inventory.Resource{Provider: "aws", Category: "compute", ResourceType: "vm", ResourceName: name,
		Attributes: json.RawMessage(attributes)}
}

func TestParse(t *testing.T) {
	long := strings.Repeat("n", 255)
	tests := []struct {
		name, body string
		want       []inventory.Resource
	}{
		{"instances", list(`{"resource_name":"a","attributes":{"size":"t2.micro"}}`,
			`{"attributes":{"x":1},"resource_name":"b"}`),
			[]inventory.Resource{resource("a", `{"size":"t2.micro"}`), resource("b", `{"x":1}`)}},
		{"words last", `{"instances":[{}],"resource_type":"vm","category":"compute","provider":"aws"}`,
			[]inventory.Resource{resource("vm-0", `{}`)}},
		{"a report's name", `{"name":"nightly",` + head + `,"instances":[{}]}`, []inventory.Resource{resource("vm-0", `{}`)}},
		{"single with attributes", `{` + head + `,"resource_name":"a","attributes":{"b":[]}}`,
			[]inventory.Resource{resource("a", `{"b":[]}`)}},
		{"single with properties", `{"properties":{"b":1},` + head + `,"resource_name":"a","name":"nightly"}`,
			[]inventory.Resource{resource("a", `{"b":1}`)}},
		{"single without attributes", `{` + head + `,"resource_name":"a"}`, []inventory.Resource{resource("a", `{}`)}},
		{"single without a name", `{` + head + `,"properties":{"id":"i-1"}}`,
			[]inventory.Resource{resource("i-1", `{"id":"i-1"}`)}},
		{"instances with properties", list(`{"properties":{"b":1}}`), []inventory.Resource{resource("vm-0", `{"b":1}`)}},
		{"null is absent", `{` + head +
			`,"name":null,"resource_name":null,"attributes":null,"instances":[{"resource_name":null,"attributes":null,"properties":null}]}`,
			[]inventory.Resource{resource("vm-0", `{}`)}},
		{"names", list(`{"attributes":{"id":"i","name":"n"}}`, `{"attributes":{"id":"i","name":""}}`,
			`{"attributes":{"id":77,"name":null}}`, `{"attributes":{"id":"","name":{}}}`,
			`{"attributes":{"name":"`+long+`n","id":"`+long+`"}}`, `{"attributes":{"tags":{"name":"x","id":"y"}}}`),
			[]inventory.Resource{resource("n", `{"id":"i","name":"n"}`), resource("i", `{"id":"i","name":""}`),
				resource("77", `{"id":77,"name":null}`),
				resource("vm-3", `{"id":"","name":{}}`), resource(long, `{"name":"`+long+`n","id":"`+long+`"}`),
				resource("vm-5", `{"tags":{"name":"x","id":"y"}}`)}},
		{"escapes", `{"provi\u0064er":"\u0061ws","category":"compute","resource_type":"vm","instances":[{"resource_name":"\ud83d\ude00\n"}]}`,
			[]inventory.Resource{resource("😀\n", `{}`)}},
		{"attributes as they are",
			list("{\"attributes\" : { \"z\" : 18446744073709551617 , \"a\":1.0e+00,\n\t\"h\":\"<&>\u2028\\u003c \\/\", \"l\" " +
				": [ 1 , { } , null ] } }"),
			[]inventory.Resource{resource("vm-0",
				"{\"z\":18446744073709551617,\"a\":1.0e+00,\"h\":\"<&>\u2028\\u003c \\/\",\"l\":[1,{},null]}")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			upload, err := inventory.Parse([]byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, upload.Resources); diff != "" {
				t.Errorf("resources (-want +got):\n%s", diff)
			}
			if upload.Ignored != nil {
				t.Errorf("ignored %q", upload.Ignored)
			}
		})
	}
}

// Members that mean nothing are passed over, but not in silence.
func TestParseTellsWhatItIgnores(t *testing.T) {
	upload, err := inventory.Parse([]byte(`{"a/b":{"c":[1]},` + head +
		`,"instances":[{"tags":{"x":"y"},"Attributes":{}},{"id":1}],"~":1,"n":null}`))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/a~1b", "/instances/0/tags", "/instances/0/Attributes", "/instances/1/id",
		"/~0"}; !cmp.Equal(upload.Ignored, want) {
		t.Errorf("ignored %q, want %q", upload.Ignored, want)
	}
}

// Attributes share the body's memory, but no more of it than is theirs; names don't.
func TestParseShares(t *testing.T) {
	body := []byte(list(`{"resource_name":"a","attributes":{"b":"c"}}`))
	upload, err := inventory.Parse(body)
	if err != nil {
		t.Fatal(err)
	}
	before := bytes.Clone(body)
	_ = append(upload.Resources[0].Attributes, "appended"...)
	if !bytes.Equal(before, body) {
		t.Errorf("the body became %s", body)
	}
	clear(body)
	if name := upload.Resources[0].ResourceName; name != "a" {
		t.Errorf("the name became %q", name)
	}
}
