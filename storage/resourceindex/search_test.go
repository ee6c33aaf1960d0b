package resourceindex_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

func TestPages(t *testing.T) {
	onNew(t, func(t *testing.T, x indexed) {
		x.must(x.Record(t.Context(), ourOrg, []resources.Resource{uploaded("z"), uploaded("a")}, "c"))
		x.put(ourOrg, "b", inState("x"), inState("a"))
		x.put(ourOrg, "a/b", inState("m"))
		want := []string{"a/b:m", "b:a", "b:x", "upload:aws/compute/vm/a", "upload:aws/compute/vm/z"}
		var got []string
		var after resources.Place
		for {
			page, next, err := x.Search(t.Context(), ourOrg, everything, resources.Query{After: after, Limit: 1})
			x.must(err)
			if got = append(got, places(page)...); len(page) > 1 {
				t.Errorf("%d resources on a page of one", len(page))
			}
			if after = next; next == (resources.Place{}) {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// TestPageBytes looks for resources that take much, each of which is the same object as
// many others: no page takes more than it may, and all resources are on one.
func TestPageBytes(t *testing.T) {
	onNew(t, func(t *testing.T, x indexed) {
		const states, each = 12, 25
		for s := range states {
			all := make([]resources.Resource, each)
			for i := range all {
				all[i] = inState(fmt.Sprintf("%s.r%02d", strings.Repeat("m", 3000), i), fmt.Sprint("object ", i))
				for n := range 100 {
					all[i].Attributes = append(all[i].Attributes,
						resources.Pair{Name: fmt.Sprint("a", n), Value: strings.Repeat("v", n)})
				}
			}
			x.put(ourOrg, state.Name(fmt.Sprint("s", s)), all...)
		}
		place, searched := resources.Place{}, 0
		for more := true; more; more = place != (resources.Place{}) {
			found, next, err := x.Search(t.Context(), ourOrg, everything, resources.Query{Limit: 1000, After: place})
			x.must(err)
			var takes int64
			for _, one := range found {
				takes += one.Bytes()
			}
			wantPageBytes(t, len(found), takes)
			searched, place = searched+len(found), next
		}
		covered := 0
		for more := true; more; more = place != (resources.Place{}) {
			found, next, err := x.Coverage(t.Context(), ourOrg, everything,
				resources.CoverageQuery{Status: resources.ClaimedTwice, Limit: 1000, After: place})
			x.must(err)
			var takes int64
			for _, one := range found {
				takes += one.Bytes()
			}
			wantPageBytes(t, len(found), takes)
			covered, place = covered+len(found), next
		}
		if searched != states*each || covered != states*each {
			t.Errorf("%d are found and %d are claimed twice, want %d of both", searched, covered, states*each)
		}
	})
}

func wantPageBytes(t *testing.T, n int, takes int64) {
	t.Helper()
	if n > 1 && takes > resources.PageBytes {
		t.Errorf("a page of %d resources takes %d bytes", n, takes)
	}
}

func TestWords(t *testing.T) {
	onNew(t, func(t *testing.T, x indexed) {
		tagged := withAttributes(inState(`module.net["eu"].aws_instance.web[0]`), "id", "i-0abc123", "ami", "ami-77")
		tagged.Tags = []resources.Pair{{Name: "Owner", Value: "Zoë"}}
		x.put(ourOrg, "prod", tagged, inState("aws_vpc.main"))
		for q, found := range map[string]bool{
			"i-0abc123": true, "i-0ab": true, "I-0ABC123": true, "0abc123": true, "abc123": false, "web": true, "we": true,
			"module.net": true, `module.net["eu"].aws_instance.web[0]`: true, "owner zoe": true, "zoë": true, "web i-0a": true,
			"web vpc": false, "ami-77": false, "-web": true, `"web"`: true, "web*": true, "NEAR(web": false, "web OR vpc": false,
			"text:web": false, "org:o1": false,
		} {
			words, err := resources.ParseWords(q)
			x.must(err)
			got := x.search(ourOrg, everything, resources.Query{Words: words})
			if (len(got) == 1 && strings.Contains(got[0], "web")) != found || !found && len(got) != 0 {
				t.Errorf("%q finds %q", q, got)
			}
		}
	})
}

// No text is an error, whatever the engine makes of its own signs.
func TestOddWords(t *testing.T) {
	onNew(t, func(t *testing.T, x indexed) {
		x.put(ourOrg, "prod", inState("aws_vpc.main"))
		for _, word := range []string{`"`, `""`, `"""`, "*", "-", "^", "NEAR(", "NEAR(a b)", "NOT", "AND", "a AND", "(", "{",
			"text:", "org:o1 OR", "+", "'", `\`,
			"½", "💥", "日本", "\u200b", "a\x01", strings.Repeat("a", 900), "' OR 1=1 --"} {
			if _, _, err := x.Search(t.Context(), ourOrg, everything,
				resources.Query{Words: []string{word}, Limit: 1}); err != nil {
				t.Errorf("%q: %v", word, err)
			}
		}
		if _, err := resources.ParseWords(`" * -`); !fault.Is(err, fault.ParameterInvalid) {
			t.Errorf("nothing but signs: %v", err)
		}
		if _, err := resources.ParseWords(strings.Repeat("a ", 400)); !fault.Is(err, fault.ParameterInvalid) {
			t.Errorf("too many words: %v", err)
		}
	})
}

func TestFilters(t *testing.T) {
	onNew(t, func(t *testing.T, x indexed) {
		bucket := withAttributes(inState("bucket"), "region", "eu", "size", "10")
		bucket.Type, bucket.Provider = "google_storage_bucket", "google"
		x.put(ourOrg, "a", bucket, withAttributes(inState("vm"), "region", "eu", "si", "ze10"))
		x.put(ourOrg, "b", withAttributes(inState("vm"), "region", "us"))
		x.must(x.Record(t.Context(), ourOrg, []resources.Resource{withAttributes(uploaded("vm"), "region", "eu")}, "c"))
		for want, q := range map[string]resources.Query{
			"a:bucket":                           {Type: "google_storage_bucket"},
			"a:vm b:vm upload:aws/compute/vm/vm": {Provider: "aws"},
			"b:vm":                               {State: "b"},
			"upload:aws/compute/vm/vm":           {Source: resources.FromUpload},
			"a:bucket a:vm b:vm":                 {Source: resources.FromState},
			"a:bucket a:vm upload:aws/compute/vm/vm ": {Attributes: []resources.Pair{{Name: "region", Value: "eu"}}},
			"a:bucket ": {Attributes: []resources.Pair{{Name: "region", Value: "eu"}, {Name: "size", Value: "10"}}},
			"":          {Type: "' OR ''='"},
		} {
			if got := strings.Join(x.search(ourOrg, everything, q), " "); got != strings.TrimSpace(want) {
				t.Errorf("%+v finds %q, want %q", q, got, want)
			}
		}
	})
}

func TestScope(t *testing.T) {
	onNew(t, func(t *testing.T, x indexed) {
		x.put(ourOrg, "prod/a", inState("vm"))
		x.put(ourOrg, "test/a", inState("vm"))
		x.must(x.Record(t.Context(), ourOrg, []resources.Resource{uploaded("vm")}, "c"))
		prod := func(name string) bool { return strings.HasPrefix(name, "prod/") }
		for want, scope := range map[string]resources.Scope{
			"":                                   {},
			"prod/a:vm test/a:vm":                {AnyState: true},
			"upload:aws/compute/vm/vm":           {Uploads: true},
			"prod/a:vm":                          {AnyState: true, States: prod},
			"prod/a:vm upload:aws/compute/vm/vm": {AnyState: true, States: prod, Uploads: true},
		} {
			if got := strings.Join(x.search(ourOrg, scope, resources.Query{}), " "); got != want {
				t.Errorf("%+v finds %q, want %q", scope, got, want)
			}
		}
		page, _, err := x.Search(t.Context(), ourOrg,
			resources.Scope{AnyState: true, States: func(name string) bool { return name == "test/a" }},
			resources.Query{Limit: 1})
		if err != nil || len(page) != 1 {
			t.Errorf("a page behind states that are not shown: %v %v", page, err)
		}
	})
}

func TestOrganizations(t *testing.T) {
	onNew(t, func(t *testing.T, x indexed) {
		x.put(otherOrg, "a", withAttributes(inState("vm"), "id", "i-0abc"))
		x.must(x.Record(t.Context(), otherOrg, []resources.Resource{uploaded("vm")}, "c"))
		for _, known := range []bool{false, true} {
			if known {
				x.put(ourOrg, "empty")
			}
			for _, q := range []resources.Query{{}, {Words: []string{"vm"}}, {Words: []string{"i-0abc"}}, {State: "a"},
				{Attributes: []resources.Pair{{Name: "id", Value: "i-0abc"}}}} {
				if got := x.search(ourOrg, everything, q); len(got) > 0 {
					t.Errorf("%+v shows another organization's %q", q, got)
				}
			}
		}
	})
}
