package state

import (
	"slices"

	"github.com/holdfast/holdfast/fault"
)

// Condition ties a change to what its caller takes the state to be. The zero Condition always
// holds. It is looked at behind the lock, and not for a replay: that finds what it wants done.
type Condition struct {
	// Is has what the newest version must be one of, Not what it must be none of; nil says
	// nothing.
	Is, Not *Contents
}

// Contents are some of those that a state may have.
type Contents struct {
	Any     bool // whatever there is; a state that does not exist has none
	Digests []Digest
}

// include reports whether the head's state exists and has one of the contents.
func (c *Contents) include(h Head) bool {
	return h.Exists() && (c.Any || slices.Contains(c.Digests, h.Version.Digest))
}

// check returns fault.ConditionFailed unless the condition holds.
func (c Condition) check(h Head) error {
	if (c.Is == nil || c.Is.include(h)) && (c.Not == nil || !c.Not.include(h)) {
		return nil
	}
	if !h.Exists() {
		return fault.New(fault.ConditionFailed,
			"there is no such state, and the request is for one that it names; nothing was done")
	}
	return fault.New(fault.ConditionFailed,
		"the state's newest version is %d, which the request is not for; nothing was done", h.Version.Number)
}
