package auth

import (
	"time"

	"github.com/google/uuid"
)

// GuardMode is what happens to a write in which a guard finds something.
type GuardMode string

// The modes of guards.
const (
	GuardsOff  GuardMode = "off"
	GuardsWarn GuardMode = "warn" // accept it, mark the version, record it
	GuardsHold GuardMode = "hold" // keep it as a candidate and refuse it
)

// Policy is how an organization wants its states kept. DefaultPolicy has what it does not
// say.
type Policy struct {
	// LockTTL lets the next LOCK take over a lock whose holder gave no sign of life for so
	// long; 0 never.
	LockTTL time.Duration
	// RequireLock accepts writes only from the holder of the lock.
	RequireLock bool
	// KeepVersions is how many versions of a state are kept, KeepFor for how long; 0 is
	// all of them, for ever. The newest is always kept.
	KeepVersions int
	KeepFor      time.Duration
	// Grace is for how long a deleted state can be brought back; 0 for ever.
	Grace time.Duration
	// Guards is what guards do, ShrinkPercent the share of a state's resources that may go
	// in one write without a guard's notice, 0 to 100.
	Guards        GuardMode
	ShrinkPercent int
}

// DefaultPolicy is the policy of an organization that says nothing.
func DefaultPolicy() Policy {
	return Policy{Grace: 30 * 24 * time.Hour, Guards: GuardsWarn, ShrinkPercent: 50}
}

// Policy returns how an organization wants a state kept: what its own section says, then
// what its sections of states say that match the name, in the order of the file, so that
// the last one holds. Nothing of an organization that is not there is ever removed: it may
// come back.
func (r *Keyring) Policy(org uuid.UUID, state string) Policy {
	policy := DefaultPolicy()
	o, ok := r.orgs[org]
	if !ok {
		policy.Grace = 0
		return policy
	}
	for _, rule := range o.policies {
		if rule.states.Match(state) {
			rule.apply(&policy)
		}
	}
	return policy
}

// Policy is Keyring.Policy of the keyring in force.
func (v *Verifier) Policy(org uuid.UUID, state string) Policy {
	return v.current.Load().Policy(org, state)
}

// NotifyURL returns where an organization's notices go; empty for nowhere.
func (v *Verifier) NotifyURL(org uuid.UUID) string {
	if o, ok := v.current.Load().orgs[org]; ok {
		return o.NotifyURL
	}
	return ""
}

// Quota is how many bytes an organization may have stored, as its section says: zero for
// the server's default, Unlimited for as many as it likes.
func (v *Verifier) Quota(org uuid.UUID) int64 {
	if o, ok := v.current.Load().orgs[org]; ok {
		return o.Limits.Quota
	}
	return 0
}

// IsOnly reports whether there is no other organization.
func (v *Verifier) IsOnly(org uuid.UUID) bool {
	orgs := v.current.Load().orgs
	_, ok := orgs[org]
	return ok && len(orgs) == 1
}
