package auth

import (
	"errors"

	"github.com/holdfast/holdfast/fault"
)

// StateAccess is how much of a state callers are shown that are no runs, whatever their role.
type StateAccess string

// The kinds of access, from most to least.
const (
	// AccessFull shows what the caller's role lets it see.
	AccessFull StateAccess = "full"
	// AccessSummary shows what the server makes of a state with sensitive values masked, and no bytes of it.
	AccessSummary StateAccess = "summary"
	// AccessInternal shows no value of a state: bytes are for runs alone.
	AccessInternal StateAccess = "internal"
)

// ParseStateAccess returns the access of this name.
func ParseStateAccess(text string) (StateAccess, error) {
	switch access := StateAccess(text); access {
	case AccessFull, AccessSummary, AccessInternal:
		return access, nil
	}
	return "", errors.New("not full, summary or internal")
}

// Exposure is what an organization says of access to its states. The nil Exposure says AccessFull of all.
type Exposure struct{ rules []exposureRule }

type exposureRule struct {
	states *Patterns // nil for all
	access StateAccess
}

// With returns an exposure with one more rule, which holds where it matches, whatever those before it say.
func (e *Exposure) With(states *Patterns, access StateAccess) *Exposure {
	more := &Exposure{}
	if e != nil {
		more.rules = append(more.rules, e.rules...)
	}
	more.rules = append(more.rules, exposureRule{states, access})
	return more
}

// Of returns the access to a state.
func (e *Exposure) Of(state string) StateAccess {
	access := AccessFull
	if e == nil {
		return access
	}
	for _, rule := range e.rules {
		if rule.states.Match(state) {
			access = rule.access
		}
	}
	return access
}

// ShowsAll reports whether it says AccessFull of all states.
func (e *Exposure) ShowsAll() bool {
	if e == nil {
		return true
	}
	for _, rule := range e.rules {
		if rule.access != AccessFull {
			return false
		}
	}
	return true
}

// Access returns how much of a state the caller may be shown. A run is shown its own state.
func (p Principal) Access(state string) StateAccess {
	if p.Run != nil && p.Run.State == state {
		return AccessFull
	}
	return p.Exposure.Of(state)
}

// SeesValues reports whether the caller may be shown any value of a state.
func (p Principal) SeesValues(state string) bool { return p.Access(state) != AccessInternal }

// MayView is MayOn for what is made of a state's bytes with sensitive values masked: it is refused where the
// state's values are for runs alone.
func (p Principal) MayView(right Right, state string) error {
	if err := p.mayOn(right, state); err != nil {
		return err
	}
	if p.SeesValues(state) {
		return nil
	}
	return fault.New(fault.StateInternal, "the values of %q are for its runs alone: its state_access is internal", state)
}

// showsBytes reports whether a right lets somebody see a state's bytes, or parts of them as they are.
func (r Right) showsBytes() bool { return r == ReadState || r == ReadOutputs }

// mayShow refuses bytes of a state that are for runs alone.
func (p Principal) mayShow(right Right, state string) error {
	access := p.Access(state)
	if access == AccessFull || !right.showsBytes() {
		return nil
	}
	return fault.New(fault.StateInternal, "the bytes of %q are for its runs alone: its state_access is %s", state, access)
}
