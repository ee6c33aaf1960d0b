package resourceindex_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/resources"
)

func (x indexed) coverage(scope resources.Scope, q resources.CoverageQuery) map[resources.Status]string {
	x.t.Helper()
	all := map[resources.Status]string{}
	total := int64(0)
	for _, status := range resources.Statuses() {
		q.Status, q.Limit, q.After = status, 1, resources.Place{}
		var texts []string
		for {
			page, next, err := x.Coverage(x.t.Context(), ourOrg, scope, q)
			x.must(err)
			for _, one := range page {
				text := placeText(one.Place)
				for _, other := range one.Others {
					text += "=" + placeText(other)
				}
				texts = append(texts, text)
			}
			if q.After = next; next == (resources.Place{}) {
				break
			}
		}
		total += int64(len(texts))
		if len(texts) > 0 {
			all[status] = strings.Join(texts, " ")
		}
	}
	counts, err := x.Count(x.t.Context(), ourOrg, scope, q)
	x.must(err)
	for _, byStatus := range counts {
		for _, n := range byStatus {
			total -= n
		}
	}
	if total != 0 {
		x.t.Errorf("the counts %v differ from the lists %v", counts, all)
	}
	return all
}

func TestCoverage(t *testing.T) {
	onNew(t, func(t *testing.T, x indexed) {
		hint := func(r resources.Resource, texts ...string) resources.Resource {
			r.Traits.Hints = marks(texts)
			return r
		}
		lanes := func(r resources.Resource, texts ...string) resources.Resource {
			r.Traits.Lanes = marks(texts)
			return r
		}
		everywhere := func(r resources.Resource, texts ...string) resources.Resource {
			r.Traits.Everywhere = marks(texts)
			return r
		}
		data := inState("data.vm", "i-1")
		data.Traits = resources.Traits{}
		old := uploaded("old", "i-old")
		old.At = start.Add(-time.Hour)
		x.put(ourOrg, "a",
			inState("both", "i-1"), inState("gone", "i-2"), inState("twice", "i-3"), data,
			lanes(inState("unlike", "x-1"), "nobody reports"),
			hint(inState("named"), "n-1"), hint(inState("same1"), "n-2"), hint(inState("same2"), "n-2"),
			everywhere(lanes(inState("arn", "i-9"), "nobody reports"), "arn-1"), inState("stale", "i-old"))
		x.put(ourOrg, "b", inState("claim", "i-3"), everywhere(lanes(inState("setting", "i-10"), "nobody reports"), "arn-1"))
		x.put(otherOrg, "a", inState("theirs", "i-4"))
		x.must(x.Record(t.Context(), ourOrg, []resources.Resource{
			uploaded("both", "i-1"), uploaded("new", "i-4"), lanes(uploaded("bare")),
			lanes(hint(uploaded("named"), "n-1")), lanes(hint(uploaded("same"), "n-2")),
			everywhere(uploaded("arn", "i-arn"), "arn-1"), old,
		}, "c"))
		const vm = "upload:aws/compute/vm/"
		want := map[resources.Status]string{
			resources.Managed: "a:arn=" + vm + "arn a:both=" + vm + "both a:named=" + vm + "named a:stale=" + vm +
				"old b:setting=" + vm + "arn " +
				vm + "arn=a:arn=b:setting " + vm + "both=a:both " + vm + "named=a:named " + vm + "old=a:stale",
			resources.Unmanaged:    vm + "new",
			resources.Missing:      "a:gone a:twice b:claim",
			resources.ClaimedTwice: "a:twice=b:claim b:claim=a:twice",
			resources.Unmatched:    "a:same1 a:same2 a:unlike " + vm + "bare " + vm + "same",
		}
		if diff := cmp.Diff(want, x.coverage(everything, resources.CoverageQuery{})); diff != "" {
			t.Error(diff)
		}
		recent := x.coverage(everything, resources.CoverageQuery{Since: start, State: "a"})
		if got := recent[resources.Missing]; got != "a:gone a:stale a:twice" {
			t.Errorf("missing from recent uploads: %q", got)
		}
	})
}

// What a caller may not see counts as if it were not there.
func TestCoverageScope(t *testing.T) {
	onNew(t, func(t *testing.T, x indexed) {
		x.put(ourOrg, "prod", inState("vm", "i-1"))
		x.put(ourOrg, "test", inState("vm", "i-1"), inState("db", "i-2"))
		x.must(x.Record(t.Context(), ourOrg, []resources.Resource{uploaded("db", "i-2")}, "c"))
		limited := resources.Scope{AnyState: true, Uploads: true, States: func(name string) bool { return name == "prod" }}
		want := map[resources.Status]string{resources.Missing: "prod:vm", resources.Unmanaged: "upload:aws/compute/vm/db"}
		if diff := cmp.Diff(want, x.coverage(limited, resources.CoverageQuery{})); diff != "" {
			t.Error(diff)
		}
	})
}

func TestCoverageOfOrganizations(t *testing.T) {
	onNew(t, func(t *testing.T, x indexed) {
		x.put(otherOrg, "a", inState("vm", "i-1"))
		x.must(x.Record(t.Context(), otherOrg, []resources.Resource{uploaded("vm", "i-2")}, "c"))
		x.put(ourOrg, "a", inState("vm", "i-2"))
		x.must(x.Record(t.Context(), ourOrg, []resources.Resource{uploaded("vm", "i-1")}, "c"))
		want := map[resources.Status]string{resources.Missing: "a:vm", resources.Unmanaged: "upload:aws/compute/vm/vm"}
		if diff := cmp.Diff(want, x.coverage(everything, resources.CoverageQuery{})); diff != "" {
			t.Error(diff)
		}
	})
}
