package debug_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/engine/debug"
)

// A difference is told with the names of attributes alone, and summed up.
func TestDifferenceForPeople(t *testing.T) {
	before := parsed(t, resource("a_vpc", "gone", `{"schema_version":0,"attributes":{"id":"1"}}`)+","+
		resource("a_vpc", "other", `{"schema_version":0,"attributes":{"id":"2","secret":"hush"}}`)+","+
		resource("a_vpc", "same", `{"schema_version":0,"attributes":{"id":"3"}}`))
	after := parsed(t, resource("a_vpc", "new", `{"schema_version":0,"attributes":{"id":"4"}}`)+","+
		resource("a_vpc", "other", `{"schema_version":0,"attributes":{"id":"2","secret":"hush hush"}}`)+","+
		resource("a_vpc", "same", `{"schema_version":0,"attributes":{"id":"3"}}`))
	var text bytes.Buffer
	if err := debug.Compare(before, after).Text(&text); err != nil {
		t.Fatal(err)
	}
	want := "+ a_vpc.new\n- a_vpc.gone\n~ a_vpc.other: secret\n1 added, 1 removed, 1 modified, 1 unchanged\n"
	if text.String() != want {
		t.Errorf("%q, want %q", &text, want)
	}
}

// What can't be right is found in states of all ages, also in what is only deposed.
func TestInspectFindsWhatCanNotBeRight(t *testing.T) {
	for name, c := range map[string]struct{ resources, want string }{
		"schema version": {resource("a_b", "c", `{"schema_version":-1,"attributes":{"id":"1"}}`), "schema version -1"},
		"sensitive attributes": {resource("a_b", "c", `{"schema_version":0,"attributes":{"id":"1"},`+
			`"sensitive_attributes":{"id":true}}`), "sensitive attributes that can't be read"},
		"deposed": {resource("a_b", "c", `{"schema_version":0,"deposed":"01234567","attributes":[]}`), "(deposed 01234567)"},
		"no provider": {`{"mode":"managed","type":"a_b","name":"c","provider":"","instances":[{"schema_version":0,` +
			`"attributes":{"id":"1"}}]}`, "names no provider"},
	} {
		r := debug.Inspect(parsed(t, c.resources))
		if r.IsValid || !strings.Contains(fmt.Sprint(r.ValidationErrors), c.want) {
			t.Errorf("%s: %+v, want %q", name, r, c.want)
		}
	}
	flat := debug.Inspect(parsed(t, resource("a_b", "c", `{"schema_version":0,"attributes_flat":{"id":"1"}}`)))
	if !flat.IsValid {
		t.Errorf("what Terraform wrote before version 0.12 is taken for wrong: %+v", flat)
	}
}

// A report is short, and says how much it leaves out.
func TestReportLeavesOutWhatIsTooMuch(t *testing.T) {
	var all []string
	for i := range 8 {
		all = append(all, resource("a_b", fmt.Sprintf("c%d", i), `{"schema_version":0,"attributes":{"id":"1"},`+
			`"dependencies":["a_b.none"]}`))
	}
	var text bytes.Buffer
	if err := debug.Inspect(parsed(t, strings.Join(all, ","))).Text(&text, "x"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "and 3 more") {
		t.Errorf("%s", &text)
	}
}
