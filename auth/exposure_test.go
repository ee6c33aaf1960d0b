package auth_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// What people may see of a state is what their role and the organization let them; a run's is not asked for.
func TestExposureNarrowsWhatRolesMay(t *testing.T) {
	prod, err := auth.ParsePatterns("prod/**")
	if err != nil {
		t.Fatal(err)
	}
	var none *auth.Exposure
	said := none.With(nil, auth.AccessSummary).With(prod, auth.AccessInternal)
	owner := auth.Principal{Org: uuid.New(), Grant: auth.Grant{Role: auth.Owner}, Exposure: said}
	auditor := owner
	auditor.Role = auth.Auditor
	run := auth.Principal{Org: owner.Org, Exposure: said,
		Run: &auth.RunGrant{ID: "r", Stage: auth.RunApply, State: "prod/net"}}
	for _, c := range []struct {
		name     string
		as       auth.Principal
		state    string
		on, view fault.Code
	}{
		{"internal", owner, "prod/net", fault.StateInternal, fault.StateInternal},
		{"summary", owner, "stage/net", fault.StateInternal, ""},
		{"a run", run, "prod/net", "", ""},
		{"another run", run, "prod/other", fault.RightMissing, fault.RightMissing},
		{"without the right", auditor, "prod/net", fault.RightMissing, fault.RightMissing},
	} {
		for what, got := range map[fault.Code]error{c.on: c.as.MayOn(auth.ReadState, c.state)} {
			if what == "" && got != nil || what != "" && !fault.Is(got, what) {
				t.Errorf("%s: bytes: %v, want %q", c.name, got, what)
			}
		}
		if got := c.as.MayView(auth.ReadState, c.state); c.view == "" && got != nil ||
			c.view != "" && !fault.Is(got, c.view) {
			t.Errorf("%s: a view: %v, want %q", c.name, got, c.view)
		}
	}
	if err := owner.MayOn(auth.WriteState, "prod/net"); err != nil {
		t.Errorf("a write: %v", err)
	}
	if none.Of("x") != auth.AccessFull || !none.ShowsAll() || said.ShowsAll() {
		t.Error("nothing that is said is not full access")
	}
}
