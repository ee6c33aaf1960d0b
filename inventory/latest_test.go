package inventory

import (
	"fmt"
	"iter"
	"testing"

	"github.com/holdfast/holdfast/fault"
)

func resources(names ...string) iter.Seq2[Positioned, error] {
	return func(yield func(Positioned, error) bool) {
		for _, name := range names {
			if !yield(Positioned{Record: Record{Resource: Resource{ResourceName: name}}}, nil) {
				return
			}
		}
	}
}

// The limit counts identities, not records, and is no error until one more comes.
func TestNewestIsBounded(t *testing.T) {
	for _, test := range []struct {
		names []string
		want  string
		wide  bool
	}{
		{[]string{"a", "b", "a", "b", "a"}, "[a b]", false},
		{[]string{"a", "a", "b", "c", "a"}, "[a b]", true},
	} {
		var got []string
		var failure error
		for record, err := range newest(resources(test.names...), 2) {
			if failure = err; err == nil {
				got = append(got, record.ResourceName)
			}
		}
		if fmt.Sprint(got) != test.want || fault.Is(failure, fault.QueryTooWide) != test.wide {
			t.Errorf("%q: %q, %v", test.names, got, failure)
		}
	}
}

// The borders between the texts count.
func TestIdentities(t *testing.T) {
	seen := map[identity]bool{}
	for _, r := range []Resource{{Provider: "ab"}, {Provider: "a", Category: "b"}, {Category: "ab"}, {ResourceType: "ab"}, {ResourceName: "ab"}, {ResourceType: "a", ResourceName: "b"}} {
		id, _ := identify(r, nil)
		if seen[id] {
			t.Errorf("%+v looks like another", r)
		}
		seen[id] = true
	}
}

func TestAppendJSON(t *testing.T) {
	r := Record{Resource: Resource{Provider: "aws", Category: "c", ResourceType: "t", ResourceName: "<\"&\u2028\n>", Attributes: []byte(`{"a":"<&>"}`)}}
	want := `{"timestamp":"0001-01-01T00:00:00.000000Z","org_id":"00000000-0000-0000-0000-000000000000","data":{"provider":"aws","category":"c","resource_type":"t",` +
		"\"resource_name\":\"<\\\"&\u2028\\n>\"," + `"attributes":{"a":"<&>"}}}`
	if got := string(r.AppendJSON(nil)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
