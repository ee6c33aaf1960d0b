package auth

import (
	"errors"
	"slices"
	"strings"
)

// Right is one kind of thing that a caller may do. Its text is what a refusal names.
type Right string

// The rights. Those on states, runs and workspaces are narrowed by a key's state patterns as
// well: a workspace and its runs have the name of its state.
const (
	ReadState     Right = "state:read"     // a state's bytes, of any version
	WriteState    Right = "state:write"    // store, delete and roll back
	LockState     Right = "state:lock"     // lock, and release the lock that one holds
	ForceUnlock   Right = "state:unlock"   // release somebody else's lock
	ReadMetadata  Right = "state:metadata" // names, versions, lock holders; no bodies
	ReadOutputs   Right = "state:outputs"  // a state's outputs, and nothing else of it
	PurgeVersions Right = "state:purge"    // destroy the bytes of a version for good
	ExpectChange  Right = "state:expect"   // announce a change, so that no guard holds it
	ImportState   Right = "state:import"   // store versions that were kept elsewhere, with their times
	ReadData      Right = "data:read"      // what providers uploaded
	WriteData     Right = "data:write"     // upload
	ReadAudit     Right = "audit:read"     // who did what

	ReadWorkspace  Right = "workspace:read"  // settings, names of variables, configurations
	WriteWorkspace Right = "workspace:write" // change those
	ReadRun        Right = "run:read"        // runs, their changes and logs
	PlanRun        Right = "run:plan"        // start a plan
	ApplyRun       Right = "run:apply"       // start what may apply
	ApproveRun     Right = "run:approve"     // approve or deny what waits for it
	BreakGlass     Right = "run:break_glass" // approve alone, in an emergency
	CancelRun      Right = "run:cancel"      // cancel or discard
	ManageAgents   Right = "agent:manage"    // make and remove pools of agents
	ManagePolicies Right = "policy:manage"   // push and remove bundles of policies
	// What configurations of all workspaces come from: a key for some states may read of them and have them fetched, and
	// not change them.
	ReadRepository  Right = "repository:read"  // what repositories there are, and how they do; never their credentials
	WriteRepository Right = "repository:write" // register, change, fetch and remove them

	ReadKeys   Right = "key:read"   // what keys and rules there are; never a key itself
	ManageKeys Right = "key:manage" // make, rotate and revoke keys that may do no more than one's own
	// ManageOrganization changes how all states of the organization are kept. A key for some of them has none of it.
	ManageOrganization Right = "organization:manage"

	// ReadPinned is a state's bytes, of the one version that a plan is pinned to. No role has
	// it: it is the only right of a run that plans.
	ReadPinned Right = "state:pinned"
)

// Role is a set of rights with a name, as auth.cfg spells it. The empty Role has none.
type Role string

// The roles; Roles says what each may do.
const (
	Owner    Role = "owner"
	Writer   Role = "writer"
	Reader   Role = "reader"
	Outputs  Role = "outputs"
	Uploader Role = "uploader"
	Auditor  Role = "auditor"
	Operator Role = "operator"
	Approver Role = "approver"
)

// RoleRights is one line of the table of roles.
type RoleRights struct {
	Role   Role
	Rights []Right
}

// Roles returns the table of roles; docs/operating-keys.md carries the same one.
func Roles() (table []RoleRights) {
	for _, role := range []Role{Owner, Writer, Reader, Outputs, Uploader, Auditor, Operator, Approver} {
		table = append(table, RoleRights{role, role.Rights()})
	}
	return table
}

// Rights returns what the role may do, and decides it; nothing for a role that there isn't. Every request asks for it
// several times, so it makes no more than the one list.
func (r Role) Rights() []Right {
	switch r {
	case Owner:
		return []Right{ReadState, WriteState, LockState, ForceUnlock, ReadMetadata, ReadOutputs, PurgeVersions, ExpectChange,
			ImportState, ReadData, WriteData, ReadAudit,
			ReadWorkspace, WriteWorkspace, ReadRun, PlanRun, ApplyRun, ApproveRun, BreakGlass, CancelRun, ManageAgents,
			ManagePolicies, ReadKeys, ManageKeys, ManageOrganization, ReadRepository, WriteRepository}
	case Writer:
		return []Right{ReadState, WriteState, LockState, ForceUnlock, ReadMetadata, ReadOutputs, ExpectChange,
			ReadWorkspace, WriteWorkspace, ReadRun, PlanRun, ApplyRun, CancelRun, ReadRepository}
	case Reader:
		return []Right{ReadState, ReadMetadata, ReadOutputs, ReadData, ReadWorkspace, ReadRun, ReadRepository}
	case Outputs:
		return []Right{ReadOutputs}
	case Uploader:
		return []Right{WriteData}
	case Auditor:
		return []Right{ReadMetadata, ReadAudit}
	case Operator:
		return []Right{ReadMetadata, ReadWorkspace, WriteWorkspace, ReadRun, PlanRun, ApplyRun, CancelRun, ReadRepository}
	case Approver:
		return []Right{ReadMetadata, ReadOutputs, ReadRun, ApproveRun}
	}
	return nil
}

// Has reports whether the role has a right.
func (r Role) Has(right Right) bool { return slices.Contains(r.Rights(), right) }

// OnStates reports whether any of the role's rights is narrowed by a list of states, so that
// one means something.
func (r Role) OnStates() bool { return slices.ContainsFunc(r.Rights(), Right.onStates) }

func (r Right) onStates() bool {
	kind, _, _ := strings.Cut(string(r), ":")
	return kind == "state" || kind == "workspace" || kind == "run"
}

// ParseRole returns the role of this name.
func ParseRole(text string) (Role, error) {
	role := Role(text)
	if role.Rights() == nil {
		return "", errors.New("not a role: " + RoleNames())
	}
	return role, nil
}

// RoleNames returns the names of all roles, for people.
func RoleNames() string {
	var names []string
	for _, line := range Roles() {
		names = append(names, string(line.Role))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
