package document

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func rendered(t *testing.T, a, b string, options Options, paint Paint) string {
	t.Helper()
	var text strings.Builder
	if err := Compare(parse(t, []byte(a)), parse(t, []byte(b)), options).WriteText(&text, paint); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestText(t *testing.T) {
	const provider = `"provider":"provider[\"registry.terraform.io/hashicorp/aws\"]"`
	a := `{"version":4,"terraform_version":"1.5.7","serial":3,"lineage":"l","outputs":{"gone":{"value":1,"type":"number"},"url":{"value":"x","type":"string"}},"resources":[
		{"mode":"managed","type":"aws_instance","name":"db",` + provider +
		`,"instances":[{"attributes":{"id":"i-1","ami":"a","tags":{"a b":"x","n":"y"},"password":"old"},
			"sensitive_attributes":[[{"type":"get_attr","value":"password"}]],"dependencies":["aws_vpc.a"],"status":"tainted"}]},
		{"mode":"managed","type":"aws_vpc","name":"gone",` + provider +
		`,"instances":[{"index_key":0,"attributes":{"id":"vpc-1"}}]},
		{"module":"module.a","mode":"managed","type":"aws_eip","name":"x",` + provider +
		`,"instances":[{"attributes":{"id":"eip-1"}}]}]}`
	b := `{"version":4,"terraform_version":"1.12.6","serial":4,"lineage":"l","outputs":{"new":{"value":["a"],"type":["list","string"]},"url":{"value":"y","type":["list","string"],"sensitive":true}},"resources":[
		{"mode":"managed","type":"aws_instance","name":"db",` + provider +
		`,"instances":[{"attributes":{"id":"i-1","ami":"b","tags":{"n":"y"},"password":"new","rule":[{"port":80}]},
			"sensitive_attributes":[[{"type":"get_attr","value":"password"}]],"dependencies":["aws_vpc.b"]}]},
		{"mode":"managed","type":"random_id","name":"new","provider":"provider[\"registry.terraform.io/hashicorp/random\"]","instances":[{"index_key":"k","status":"tainted","attributes":{"hex":"ff","keepers":null,"list":[1, {"a": "\u202ex"}]}}]},
		{"module":"module.b","mode":"managed","type":"aws_eip","name":"x",` + provider +
		`,"instances":[{"attributes":{"id":"eip-1"}}]}]}`
	want := `  # terraform_version: "1.5.7" -> "1.12.6"
  # serial: 3 -> 4
  # provider registry.terraform.io/hashicorp/random is new
  ~ aws_instance.db {
      # is no longer tainted
      # dependencies: ["aws_vpc.a"] -> ["aws_vpc.b"]
      ~ ami = "a" -> "b"
      ~ password = (sensitive value) -> (sensitive value)
      + rule = [{"port":80}]
      - tags["a b"] = "x"
    }
  - aws_vpc.gone[0] {
      - id = "vpc-1"
    }
  + random_id.new["k"] {
      # is tainted
      + hex = "ff"
      + list = [1,{"a":"\u202ex"}]
    }
  # module.a.aws_eip.x has moved to module.b.aws_eip.x

Outputs:
  - gone = 1
  + new = ["a"]
  ~ url = (sensitive value) -> (sensitive value)
      # type: "string" -> ["list","string"]
      # is now sensitive

1 added, 1 changed, 1 removed, 1 moved; 3 outputs changed.
`
	if diff := cmp.Diff(want, rendered(t, a, b, Options{}, nil)); diff != "" {
		t.Error(diff)
	}
	if have := rendered(t, a, a, Options{}, nil); have != "No changes.\n" {
		t.Errorf("%q", have)
	}
	paint := func(action Action, text string) string { return "<" + string(action) + text + ">" }
	if have := rendered(t, a, b, Options{}, paint); !strings.Contains(have, "  <removed-> aws_vpc.gone[0] {\n") {
		t.Error(have)
	}
}

// Vulnerability: a value in a state that steers the terminal of whoever reads the diff.
// Scenario: escapes in names, keys, attributes, outputs and the version.
// Check: nothing but printable characters and the diff's own line ends comes out.
func TestTextCannotSteerATerminal(t *testing.T) {
	const bad = `\u001b]0;x\u0007\u009b31m\r\n\u007f\u202e\u2028\ufeff`
	a := `{"version":4}`
	b := `{"version":4,"terraform_version":"` + bad + `","lineage":"` + bad + `","outputs":{"` + bad + `":{"value":{"` +
		bad + `":"` + bad + `"},"type":"` + bad + `"}},"resources":[
		{"module":"` + bad + `","mode":"managed","type":"` + bad + `","name":"` + bad + `","provider":"` + bad +
		`","instances":[
			{"index_key":"` + bad + `","deposed":"` + bad + `","status":"` + bad + `","attributes":{"` + bad + `":"` + bad +
		`"}}]}]}`
	for _, text := range []string{rendered(t, a, b, Options{}, nil), rendered(t, b, a, Options{}, nil)} {
		if i := strings.IndexFunc(strings.ReplaceAll(text, "\n", ""), hidden); i >= 0 || strings.Count(text, "\n") != 11 {
			t.Errorf("%q", text)
		}
	}
}
