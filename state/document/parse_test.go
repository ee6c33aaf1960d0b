package document

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/fault"
)

// one returns a state with one managed resource t.n that has these instances.
func one(instances string) []byte {
	return []byte(`{"version":4,"resources":[{"mode":"managed","type":"t","name":"n","provider":"provider[\"r/h/aws\"]","instances":[` + instances + `]}]}`)
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct {
		body    string
		code    fault.Code
		message string
	}{
		{``, fault.StateInvalid, "not a JSON object"},
		{`[]`, fault.StateInvalid, "not a JSON object"},
		{`{"version":4`, fault.StateInvalid, "unexpected end"},
		{`{}`, fault.StateUnsupported, "no format version"},
		{`{"version":3}`, fault.StateUnsupported, "not 4"},
		{`{"version":3,"resources":{}}`, fault.StateUnsupported, "not 4"},
		{`{"version":"4"}`, fault.StateUnsupported, "not 4"},
		{`{"version":4.0}`, fault.StateUnsupported, "not 4"},
		{`{"version":4,"version":4}`, fault.StateUnsupported, "twice"},
		{`{"serial":1,"lineage":"l","meta":{},"encrypted_data":"x","encryption_version":"v0"}`, fault.StateEncrypted,
			"encrypted by the client:"},
		{`{"version":4,"serial":-1}`, fault.StateUnsupported, "serial"},
		{`{"version":4,"serial":18446744073709551616}`, fault.StateUnsupported, "serial"},
		{`{"version":4,"lineage":1}`, fault.StateUnsupported, "lineage"},
		{`{"version":4,"outputs":[]}`, fault.StateUnsupported, "outputs is not an object"},
		{`{"version":4,"outputs":{"a":{"sensitive":"no"}}}`, fault.StateUnsupported, "boolean"},
		{`{"version":4,"outputs":{"a":{},"a":{}}}`, fault.StateUnsupported, "twice"},
		{`{"version":4,"resources":{}}`, fault.StateUnsupported, "not a list"},
		{`{"version":4,"resources":[1]}`, fault.StateUnsupported, "resources[0]: a resource is not an object"},
		{`{"version":4,"resources":[{"mode":"other","instances":[]}]}`, fault.StateUnsupported, "resources[0]: the mode"},
		{`{"version":4,"resources":[{"mode":"data","type":1}]}`, fault.StateUnsupported, "type is not a string"},
		{string(one(`{},{"index_key":1.5}`)), fault.StateUnsupported, "resources[0]: instances[1]: index_key"},
		{string(one(`{"attributes":[]}`)), fault.StateUnsupported, "attributes is not an object"},
		{string(one(`{"status":1}`)), fault.StateUnsupported, "status"},
		{string(one(`{"status":"a","status":"b"}`)), fault.StateUnsupported, "twice"},
		{string(one(`{"index_key":0},{"index_key":0}`)), fault.StateUnsupported, "t.n[0] is there twice"},
		{`{"version":4,` + strings.Repeat(`"x":1,`, 1) + members(70) + `}`, fault.StateUnsupported, "more than 64"},
	} {
		_, err := Parse([]byte(tt.body))
		if !fault.Is(err, tt.code) || !strings.Contains(err.Error(), tt.message) {
			t.Errorf("%s: %v, want %s with %q", tt.body, err, tt.code, tt.message)
		}
	}
}

// members returns n members of different names.
func members(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = `"` + strings.Repeat("m", i+1) + `":0`
	}
	return strings.Join(all, ",")
}

func TestAddresses(t *testing.T) {
	for _, tt := range []struct{ resource, instance, want string }{
		{`"mode":"managed","type":"aws_x","name":"y"`, ``, `aws_x.y`},
		{`"mode":"data","type":"aws_x","name":"y"`, ``, `data.aws_x.y`},
		{`"module":"module.a[\"x\"]","mode":"managed","type":"aws_x","name":"y"`, `"index_key":0`,
			`module.a["x"].aws_x.y[0]`},
		{`"module":"module.a.module.b[1]","mode":"data","type":"aws_x","name":"y"`, `"index_key":"k"`,
			`module.a.module.b[1].data.aws_x.y["k"]`},
		{`"mode":"managed","type":"aws_x","name":"y"`, `"index_key":""`, `aws_x.y[""]`},
		{`"mode":"managed","type":"aws_x","name":"y"`, `"index_key":"a\"b\\c\n\r\t"`, `aws_x.y["a\"b\\c\n\r\t"]`},
		{`"mode":"managed","type":"aws_x","name":"y"`, `"index_key":"${a} %{b} $c %d $"`, `aws_x.y["$${a} %%{b} $c %d $"]`},
		{`"mode":"managed","type":"aws_x","name":"y"`, `"index_key":"\u001b\u200b\udb40\udc01ü"`,
			`aws_x.y["\u001b\u200b\U000e0001ü"]`},
		{`"mode":"managed","type":"aws_x","name":"y"`, `"index_key":2,"deposed":"1234abcd"`, `aws_x.y[2] (deposed 1234abcd)`},
	} {
		d, err := Parse([]byte(`{"version":4,"resources":[{` + tt.resource + `,"instances":[{` + tt.instance + `}]}]}`))
		if err != nil || d.Instances[0].Place.String() != tt.want {
			t.Errorf("%s %s: %v, %v; want %s", tt.resource, tt.instance, d, err, tt.want)
		}
	}
}

func TestInstancesAreInTheClientsOrder(t *testing.T) {
	d := parse(t, one(`{"index_key":"b"},{"index_key":10},{"index_key":2,"deposed":"00000001"},{"index_key":2},{"index_key":"a"},{}`))
	var have []string
	for _, i := range d.Instances {
		have = append(have, i.Place.String())
	}
	want := []string{"t.n", "t.n[2]", "t.n[2] (deposed 00000001)", "t.n[10]", `t.n["a"]`, `t.n["b"]`}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
}

func TestResourcesWithoutInstancesAreNotCounted(t *testing.T) {
	body := []byte(`{"version":4,"resources":[{"mode":"managed","type":"t","name":"a","instances":[]},{"mode":"managed","type":"t","name":"b"},` +
		`{"mode":"data","type":"t","name":"c","instances":[{"index_key":0},{"index_key":1}]},{"mode":"managed","type":"t","name":"d","instances":[{}]}]}`)
	want := Counts{Managed: Count{1, 1}, Data: Count{1, 2}}
	if counts := parse(t, body).Counts(); counts != want {
		t.Errorf("%+v", counts)
	}
	if counts, err := CountOf(body); err != nil || counts != want {
		t.Errorf("%+v, %v", counts, err)
	}
}

// What a client leaves out and what says nothing are the same, but not a zero that says
// something.
func TestFieldsThatSayNothingAreAbsent(t *testing.T) {
	i := parse(t, one(`{"schema_version":0,"identity_schema_version":0,"status":"","dependencies":[],"create_before_destroy":false,"identity":null}`)).Instances[0]
	for f := FieldEach; f < numFields; f++ {
		want := ""
		if f == FieldIdentitySchemaVersion {
			want = "0"
		}
		if have := string(i.Field(f)); have != want {
			t.Errorf("%s: %q, want %q", f, have, want)
		}
	}
}

func TestProviders(t *testing.T) {
	for text, want := range map[string]Provider{
		`provider["registry.terraform.io/hashicorp/aws"]`:          {"registry.terraform.io/hashicorp/aws", "aws"},
		`provider["registry.terraform.io/hashicorp/aws"].west`:     {"registry.terraform.io/hashicorp/aws", "aws"},
		`provider["registry.opentofu.org/hashicorp/aws"].by["eu"]`: {"registry.opentofu.org/hashicorp/aws", "aws"},
		`module.a["x"].provider["terraform.io/builtin/terraform"]`: {"terraform.io/builtin/terraform", "terraform"},
		`provider.aws`:            {"", "aws"},
		`module.a.provider.aws.b`: {"", "aws"},
		`nonsense`:                {},
	} {
		i := Instance{}
		i.fields[FieldProvider] = []byte(quoted(text))
		if have := i.Provider(); have != want {
			t.Errorf("%s: %+v, want %+v", text, have, want)
		}
	}
}

// OpenTofu names the provider in the instances when it has an instance key.
func TestProviderOfTheInstanceCounts(t *testing.T) {
	d := parse(t, one(`{"provider":"provider[\"r/h/google\"].by[\"eu\"]"}`))
	if p := d.Instances[0].Provider(); p.Name != "google" {
		t.Errorf("%+v", p)
	}
}
