package resourceindex_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// TestClaims asks who else claims objects of a state: other states and uploads, none of what the caller may not see,
// and none of another organization.
func TestClaims(t *testing.T) {
	onNew(t, func(t *testing.T, x indexed) {
		claims := func(scope resources.Scope, of state.Name, addresses ...string) map[string]string {
			t.Helper()
			found, err := x.Claims(t.Context(), ourOrg, scope, of, addresses)
			x.must(err)
			all := map[string]string{}
			for address, claims := range found {
				var texts []string
				for _, c := range claims {
					if texts = append(texts, placeText(c.Place)); !c.At.Equal(start) {
						t.Errorf("%s claims it since %v", placeText(c.Place), c.At)
					}
				}
				all[address] = strings.Join(texts, " ")
			}
			return all
		}
		if got := claims(everything, "a", "vm"); len(got) > 0 {
			t.Errorf("an empty index has claims: %v", got)
		}
		x.put(ourOrg, "a", inState("vm", "i-1"), inState("vm2", "i-1"), inState("db", "i-2"), inState("net", "i-3"))
		x.put(ourOrg, "b", inState("copy", "i-1"))
		x.put(ourOrg, "c", inState("copy", "i-1"))
		x.put(otherOrg, "a", inState("theirs", "i-2"))
		x.must(x.Record(t.Context(), ourOrg, []resources.Resource{uploaded("vm", "i-1"), uploaded("net", "i-3")}, "c"))
		x.must(x.Record(t.Context(), otherOrg, []resources.Resource{uploaded("db", "i-2")}, "c"))
		const vm = "upload:aws/compute/vm/"
		all := map[string]string{"vm": "b:copy c:copy " + vm + "vm", "net": vm + "net"}
		if diff := cmp.Diff(all, claims(everything, "a", "vm", "db", "net", "none")); diff != "" {
			t.Error(diff)
		}
		some := resources.Scope{AnyState: true, States: func(name string) bool { return name != "b" }}
		if diff := cmp.Diff(map[string]string{"vm": "c:copy"}, claims(some, "a", "vm", "net")); diff != "" {
			t.Error(diff)
		}
		hidden := resources.Scope{AnyState: true, Uploads: true, States: func(name string) bool { return name != "a" }}
		if got := claims(hidden, "a", "vm", "net"); len(got) > 0 {
			t.Errorf("what the caller may not see has claims: %v", got)
		}
		var many []resources.Resource
		for i := range resources.MaxOthers + 5 {
			many = append(many, inState("vm"+strings.Repeat("x", i), "i-3"))
		}
		x.put(ourOrg, "d", many...)
		if got := strings.Fields(claims(everything, "a", "net")["net"]); len(got) != resources.MaxOthers {
			t.Errorf("%d claims are named", len(got))
		}
	})
}
