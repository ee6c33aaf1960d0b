package resourcestest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

func checkIndexPosition(t *testing.T, x indexed) {
	want := resources.Position{Sequence: 1 << 40, Event: "an event", Complete: true}
	x.must(x.Advance(t.Context(), want))
	if got, err := x.Position(t.Context()); got != want || err != nil {
		t.Errorf("%+v %v, want %+v", got, err, want)
	}
}

func checkHoldings(t *testing.T, x indexed) {
	ref := state.Ref{Org: indexOrg, Name: "a"}
	if h, err := x.Holding(t.Context(), ref); h != (resources.Holding{}) || err != nil {
		t.Errorf("an unknown state is held: %+v %v", h, err)
	}
	x.put(indexOrg, "b", inState("one"))
	x.put(otherIndexOrg, "a")
	x.put(indexOrg, "a", inState("one"))
	var names []string
	var after state.Ref
	for {
		page, err := x.Holdings(t.Context(), after, 2)
		x.must(err)
		if len(page) == 0 {
			break
		}
		for _, one := range page {
			names = append(names, one.Ref.Org.String()[35:]+string(one.Ref.Name))
		}
		after = page[len(page)-1].Ref
	}
	if diff := cmp.Diff([]string{"1a", "1b", "2a"}, names); diff != "" {
		t.Error(diff)
	}
	x.must(x.Remove(t.Context(), ref))
	x.must(x.Remove(t.Context(), ref))
	if h, err := x.Holding(t.Context(), state.Ref{Org: indexOrg, Name: "b"}); h.Version != 1 || !h.At.Equal(indexTime) ||
		err != nil {
		t.Errorf("holding of b: %+v %v", h, err)
	}
	if got := x.search(indexOrg, everything, resources.Query{}); !slices.Equal(got, []string{"b:one"}) {
		t.Errorf("after a's removal: %q", got)
	}
}

// Until the last of the new resources is there, the old ones are shown.
func checkReplaceAllAtOnce(t *testing.T, x indexed) {
	x.put(indexOrg, "a", inState("old"))
	x.must(x.Replace(t.Context(), state.Ref{Org: indexOrg, Name: "a"}, held(2), func(yield func(resources.Resource) bool) {
		for n := range 2000 {
			if n%500 == 400 {
				if got := x.search(indexOrg, everything, resources.Query{}); !slices.Equal(got, []string{"a:old"}) {
					t.Fatalf("after %d new ones: %q", n, got)
				}
			}
			one := inState(fmt.Sprintf("new%04d", n))
			one.State = "a"
			if !yield(one) {
				return
			}
		}
	}))
	if got := x.search(indexOrg, everything, resources.Query{Limit: 5000}); len(got) != 2000 || got[0] != "a:new0000" {
		t.Errorf("%d resources after all", len(got))
	}
}

// What breaks off in the middle changes nothing, and the next try works.
func checkReplaceBrokenOff(t *testing.T, x indexed) {
	x.put(indexOrg, "a", inState("old"))
	ctx, cancel := context.WithCancel(t.Context())
	err := x.Replace(ctx, state.Ref{Org: indexOrg, Name: "a"}, held(2), func(yield func(resources.Resource) bool) {
		for n := range 1000 {
			if n == 700 {
				cancel()
			}
			if !yield(inState(fmt.Sprint(n))) {
				return
			}
		}
	})
	if err == nil {
		t.Error("no error of a context that ended")
	}
	if got := x.search(indexOrg, everything, resources.Query{}); !slices.Equal(got, []string{"a:old"}) {
		t.Errorf("after the error: %q", got)
	}
	if h, _ := x.Holding(t.Context(), state.Ref{Org: indexOrg, Name: "a"}); h.Version != 1 {
		t.Errorf("version %d after the error", h.Version)
	}
	x.put(indexOrg, "a", inState("new"))
	if got := x.search(indexOrg, everything, resources.Query{}); !slices.Equal(got, []string{"a:new"}) {
		t.Errorf("after the next try: %q", got)
	}
}

func checkIndexPages(t *testing.T, x indexed) {
	x.must(x.Record(t.Context(), indexOrg, []resources.Resource{uploaded("z"), uploaded("a")}, "c"))
	x.put(indexOrg, "b", inState("x"), inState("a"))
	x.put(indexOrg, "a/b", inState("m"))
	want := []string{"a/b:m", "b:a", "b:x", "upload:aws/compute/vm/a", "upload:aws/compute/vm/z"}
	var got []string
	var after resources.Place
	for {
		page, next, err := x.Search(t.Context(), indexOrg, everything, resources.Query{After: after, Limit: 1})
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
}

func checkWords(t *testing.T, x indexed) {
	tagged := withAttributes(inState(`module.net["eu"].aws_instance.web[0]`), "id", "i-0abc123", "ami", "ami-77")
	tagged.Tags = []resources.Pair{{Name: "Owner", Value: "Zoë"}}
	x.put(indexOrg, "prod", tagged, inState("aws_vpc.main"))
	for q, found := range map[string]bool{
		"i-0abc123": true, "i-0ab": true, "I-0ABC123": true, "0abc123": true, "abc123": false, "web": true, "we": true,
		"module.net": true, `module.net["eu"].aws_instance.web[0]`: true, "owner zoe": true, "zoë": true, "web i-0a": true,
		"web vpc": false, "ami-77": false, "-web": true, `"web"`: true, "web*": true, "NEAR(web": false, "web OR vpc": false,
		"text:web": false, "org:o1": false,
	} {
		words, err := resources.ParseWords(q)
		x.must(err)
		got := x.search(indexOrg, everything, resources.Query{Words: words})
		if (len(got) == 1 && strings.Contains(got[0], "web")) != found || !found && len(got) != 0 {
			t.Errorf("%q finds %q", q, got)
		}
	}
}

// No text is an error, whatever the engine makes of its own signs.
func checkOddWords(t *testing.T, x indexed) {
	x.put(indexOrg, "prod", inState("aws_vpc.main"))
	for _, word := range []string{`"`, `""`, `"""`, "*", "-", "^", "NEAR(", "NEAR(a b)", "NOT", "AND", "a AND", "(", "{",
		"text:", "org:o1 OR", "+", "'", `\`,
		"½", "💥", "日本", "\u200b", "a\x01", strings.Repeat("a", 900), "' OR 1=1 --"} {
		if _, _, err := x.Search(t.Context(), indexOrg, everything,
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
}

func checkIndexFilters(t *testing.T, x indexed) {
	bucket := withAttributes(inState("bucket"), "region", "eu", "size", "10")
	bucket.Type, bucket.Provider = "google_storage_bucket", "google"
	x.put(indexOrg, "a", bucket, withAttributes(inState("vm"), "region", "eu", "si", "ze10"))
	x.put(indexOrg, "b", withAttributes(inState("vm"), "region", "us"))
	x.must(x.Record(t.Context(), indexOrg, []resources.Resource{withAttributes(uploaded("vm"), "region", "eu")}, "c"))
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
		if got := strings.Join(x.search(indexOrg, everything, q), " "); got != strings.TrimSpace(want) {
			t.Errorf("%+v finds %q, want %q", q, got, want)
		}
	}
}

func checkIndexScope(t *testing.T, x indexed) {
	x.put(indexOrg, "prod/a", inState("vm"))
	x.put(indexOrg, "test/a", inState("vm"))
	x.must(x.Record(t.Context(), indexOrg, []resources.Resource{uploaded("vm")}, "c"))
	prod := func(name string) bool { return strings.HasPrefix(name, "prod/") }
	for want, scope := range map[string]resources.Scope{
		"":                                   {},
		"prod/a:vm test/a:vm":                {AnyState: true},
		"upload:aws/compute/vm/vm":           {Uploads: true},
		"prod/a:vm":                          {AnyState: true, States: prod},
		"prod/a:vm upload:aws/compute/vm/vm": {AnyState: true, States: prod, Uploads: true},
	} {
		if got := strings.Join(x.search(indexOrg, scope, resources.Query{}), " "); got != want {
			t.Errorf("%+v finds %q, want %q", scope, got, want)
		}
	}
	page, _, err := x.Search(t.Context(), indexOrg,
		resources.Scope{AnyState: true, States: func(name string) bool { return name == "test/a" }},
		resources.Query{Limit: 1})
	if err != nil || len(page) != 1 {
		t.Errorf("a page behind states that are not shown: %v %v", page, err)
	}
}

func checkIndexTenants(t *testing.T, x indexed) {
	x.put(otherIndexOrg, "a", withAttributes(inState("vm"), "id", "i-0abc"))
	x.must(x.Record(t.Context(), otherIndexOrg, []resources.Resource{uploaded("vm")}, "c"))
	for _, known := range []bool{false, true} {
		if known {
			x.put(indexOrg, "empty")
		}
		for _, q := range []resources.Query{{}, {Words: []string{"vm"}}, {Words: []string{"i-0abc"}}, {State: "a"},
			{Attributes: []resources.Pair{{Name: "id", Value: "i-0abc"}}}} {
			if got := x.search(indexOrg, everything, q); len(got) > 0 {
				t.Errorf("%+v shows another organization's %q", q, got)
			}
		}
	}
}

func checkIndexUploads(t *testing.T, x indexed) {
	ctx := t.Context()
	x.must(x.Record(ctx, indexOrg,
		[]resources.Resource{withAttributes(uploaded("a"), "size", "1"), uploaded("b"),
			withAttributes(uploaded("a"), "size", "2")}, "c1"))
	x.must(x.Record(ctx, indexOrg, []resources.Resource{withAttributes(uploaded("b"), "size", "2")}, "c2"))
	x.must(x.Record(ctx, otherIndexOrg, []resources.Resource{uploaded("a")}, "other"))
	two := resources.Query{Attributes: []resources.Pair{{Name: "size", Value: "2"}}}
	if got := x.search(indexOrg, everything, two); len(got) != 2 {
		t.Errorf("of the newest uploads %q", got)
	}
	followed, err := x.Followed(ctx)
	x.must(err)
	if len(followed) != 2 || followed[indexOrg] != "c2" || followed[otherIndexOrg] != "other" {
		t.Errorf("followed %v", followed)
	}
	x.must(x.Forget(ctx, indexOrg))
	if cursor, err := x.Cursor(ctx, indexOrg); cursor != "" || err != nil {
		t.Errorf("cursor %q %v of uploads that were forgotten", cursor, err)
	}
	if got := x.search(indexOrg, everything, resources.Query{}); len(got) > 0 {
		t.Errorf("uploads that were forgotten are shown: %q", got)
	}
	if got := x.search(otherIndexOrg, everything, resources.Query{}); len(got) != 1 {
		t.Errorf("another organization's uploads are %q", got)
	}
}

func checkUnread(t *testing.T, x indexed) {
	encrypted := held(3)
	encrypted.Unread = fault.StateEncrypted
	for _, name := range []state.Name{"b", "a"} {
		x.must(x.Replace(t.Context(), state.Ref{Org: indexOrg, Name: name}, encrypted,
			func(func(resources.Resource) bool) {}))
	}
	x.put(indexOrg, "c", inState("vm"))
	for want, scope := range map[string]resources.Scope{
		"a b": everything, "b": {AnyState: true, States: func(name string) bool { return name == "b" }}, "": {Uploads: true},
	} {
		unread, err := x.Unread(t.Context(), indexOrg, scope, 10)
		x.must(err)
		var names []string
		for _, one := range unread {
			names = append(names, string(one.Ref.Name))
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("unread are %q, want %q", got, want)
		}
	}
}
