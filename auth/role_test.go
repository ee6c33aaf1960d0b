package auth

import (
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// What each role must never be able to do: these hold whatever the table becomes.
func TestRolesKeepApart(t *testing.T) {
	every := Owner.Rights()
	only := map[Role][]Right{
		Outputs:  {ReadOutputs},
		Uploader: {WriteData},
		Auditor:  {ReadMetadata, ReadAudit},
		Operator: {ReadMetadata, ReadWorkspace, WriteWorkspace, ReadRun, PlanRun, ApplyRun, CancelRun, ReadRepository},
		Approver: {ReadMetadata, ReadOutputs, ReadRun, ApproveRun},
		"":       nil, "root": nil, "Owner": nil,
	}
	for role, rights := range only {
		for _, right := range every {
			if role.Has(right) != slices.Contains(rights, right) {
				t.Errorf("role %q and right %s: %v", role, right, role.Has(right))
			}
		}
	}
	for _, right := range []Right{WriteState, LockState, ForceUnlock, PurgeVersions, ExpectChange, WriteData,
		WriteWorkspace, PlanRun, ApplyRun, ApproveRun, CancelRun} {
		if Reader.Has(right) {
			t.Errorf("a reader may %s", right)
		}
	}
	if Writer.Has(PurgeVersions) || Writer.Has(ReadAudit) || Writer.Has(ReadData) || Writer.Has(ApproveRun) {
		t.Error("a writer may more than read, write and lock states, and run")
	}
	for _, line := range Roles() {
		if line.Role.Has(ReadPinned) {
			t.Errorf("%s has the right of runs that plan", line.Role)
		}
	}
}

func TestPrincipalMay(t *testing.T) {
	prod, err := ParsePatterns("prod/*")
	if err != nil {
		t.Fatal(err)
	}
	org := uuid.New()
	cases := []struct {
		who   Principal
		right Right
		state string
		want  fault.Code
	}{
		{Principal{}, ReadState, "prod/a", fault.CredentialsNeeded},
		{Principal{Grant: Grant{Role: Owner}}, ReadState, "prod/a", fault.CredentialsNeeded},
		{Principal{Org: org}, ReadState, "prod/a", fault.RightMissing},
		{Principal{Org: org, Grant: Grant{Role: Reader}}, ReadState, "dev", ""},
		{Principal{Org: org, Grant: Grant{Role: Reader}}, WriteState, "dev", fault.RightMissing},
		{Principal{Org: org, Grant: Grant{Role: Owner, States: prod}}, WriteState, "prod/a", ""},
		{Principal{Org: org, Grant: Grant{Role: Owner, States: prod}}, WriteState, "dev", fault.RightMissing},
	}
	for _, test := range cases {
		err := test.who.MayOn(test.right, test.state)
		if test.want == "" && err != nil || test.want != "" && !fault.Is(err, test.want) {
			t.Errorf("%s on %s as %q: %v, want %q", test.right, test.state, test.who.Role, err, test.want)
		}
	}
}
