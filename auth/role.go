package auth

import (
	"errors"
	"slices"
	"strings"
)

// Right is one kind of thing that a caller may do. Its text is what a refusal names.
type Right string

// The rights. Those on states are narrowed by a key's state patterns as well.
const (
	ReadState     Right = "state:read"     // a state's bytes, of any version
	WriteState    Right = "state:write"    // store, delete and roll back
	LockState     Right = "state:lock"     // lock, and release the lock that one holds
	ForceUnlock   Right = "state:unlock"   // release somebody else's lock
	ReadMetadata  Right = "state:metadata" // names, versions, lock holders; no bodies
	ReadOutputs   Right = "state:outputs"  // a state's outputs, and nothing else of it
	PurgeVersions Right = "state:purge"    // destroy the bytes of a version for good
	ReadData      Right = "data:read"      // what providers uploaded
	WriteData     Right = "data:write"     // upload
	ReadAudit     Right = "audit:read"     // who did what
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
)

// RoleRights is one line of the table of roles.
type RoleRights struct {
	Role   Role
	Rights []Right
}

// Roles returns the table of roles, the one that decides; docs/operating-keys.md carries
// the same one.
func Roles() []RoleRights {
	return []RoleRights{
		{Owner, []Right{ReadState, WriteState, LockState, ForceUnlock, ReadMetadata, ReadOutputs, PurgeVersions, ReadData, WriteData, ReadAudit}},
		{Writer, []Right{ReadState, WriteState, LockState, ForceUnlock, ReadMetadata, ReadOutputs}},
		{Reader, []Right{ReadState, ReadMetadata, ReadOutputs, ReadData}},
		{Outputs, []Right{ReadOutputs}},
		{Uploader, []Right{WriteData}},
		{Auditor, []Right{ReadMetadata, ReadAudit}},
	}
}

// Rights returns what the role may do; nothing for a role that there isn't.
func (r Role) Rights() []Right {
	for _, line := range Roles() {
		if line.Role == r {
			return line.Rights
		}
	}
	return nil
}

// Has reports whether the role has a right.
func (r Role) Has(right Right) bool { return slices.Contains(r.Rights(), right) }

// OnStates reports whether any of the role's rights is on states, so that a list of them
// means something.
func (r Role) OnStates() bool {
	return slices.ContainsFunc(r.Rights(), func(right Right) bool { return strings.HasPrefix(string(right), "state:") })
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
