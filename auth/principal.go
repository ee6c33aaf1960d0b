package auth

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// Principal is who is calling, and what they may do. Domain services take it as a
// parameter, so that a call without one can't be written, and ask it in their first line.
// The zero Principal may do nothing.
type Principal struct {
	Org     uuid.UUID // never uuid.Nil for a verified caller
	OrgName string    // for people; may be empty
	// what `holdfast key list` shows: a key's fingerprint, or "oidc.<name>", "cert.<name>"; "run.<id>" for a run; not a
	// secret
	KeyID   string
	KeyName string // of the key's own section, or what its label calls it; may be empty
	Subject string // who a token or a certificate says it is; empty for a key
	Grant
	// BySession says that the caller has signed in to the page, and shows its cookie.
	BySession bool
	// Run is the run whose token the caller has; nil for everybody else. It alone says what
	// a run may do.
	Run    *RunGrant
	Limits Limits
	// Exposure is what the organization says of who is shown what of its states.
	Exposure *Exposure
	Address  string // client address without port
	Request  string // request ID
}

// Grant is what a key, a token or a certificate is good for.
type Grant struct {
	Role    Role
	States  *Patterns // nil for every state
	Expires time.Time // the first moment it is no longer good; zero for never
}

// Limits are an organization's own: rate limits in requests a minute, and a quota in bytes.
// Zero is the server's default, Unlimited none at all.
type Limits struct {
	Requests int   // uploads and data
	States   int   // state routes
	Quota    int64 // of what is stored: states with their history, uploads
}

// Unlimited is a limit that nothing exceeds.
const Unlimited = -1

// May returns nil when the caller has the right, else a fault of code CredentialsNeeded
// or RightMissing. A run has no right but on its state: only MayOn can grant it one.
func (p Principal) May(right Right) error {
	switch {
	case p.Org == uuid.Nil:
		return fault.New(fault.CredentialsNeeded, "no organization is calling")
	case p.Run != nil:
		return fault.New(fault.RightMissing, "run %s may not do that: it has no rights but those on its state %q, so not %s",
			p.Run.ID, p.Run.State, right)
	case !p.Role.Has(right):
		return fault.New(fault.RightMissing,
			"this key may not do that: it lacks the right %s, which its role %q does not have", right, p.Role)
	}
	return nil
}

// MayOn is May for one state, whose name must be within the caller's patterns too. Its code
// is RunReadOnly for what a run that plans may not do with its state, and StateInternal for bytes that
// are for runs alone.
func (p Principal) MayOn(right Right, state string) error {
	if err := p.mayOn(right, state); err != nil {
		return err
	}
	return p.mayShow(right, state)
}

// MayOnAll is MayOn for every state that the patterns match. Of a state that a pattern names in full, it says also
// whether its bytes are for its own runs alone.
func (p Principal) MayOnAll(right Right, states *Patterns) error {
	if err := p.May(right); err != nil {
		return err
	}
	if !p.States.Covers(states) {
		return fault.New(fault.RightMissing,
			"this key may not do that: it has the right %s only on %s, which is not all of %s", right, p.States, states)
	}
	for _, name := range states.List() {
		if !strings.Contains(name, "*") {
			if err := p.MayOn(right, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// mayOn says what roles, patterns and runs' grants have to say.
func (p Principal) mayOn(right Right, state string) error {
	if p.Run != nil && p.Org != uuid.Nil {
		return p.Run.mayOn(right, state)
	}
	if err := p.May(right); err != nil {
		return err
	}
	if !p.States.Match(state) {
		return fault.New(fault.RightMissing, "this key may not do that: it has the right %s only on %s, not on %q", right,
			p.States, state)
	}
	return nil
}
