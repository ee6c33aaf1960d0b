package state

import "time"

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
