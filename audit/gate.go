package audit

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// Recorder keeps events. A state.Store is one.
type Recorder interface {
	Record(ctx context.Context, event Event) error
}

// Gate decides what callers may do, for states, uploads and resources alike: whoever lacks a
// right is on record before they are told. The nil Gate decides the same and records nothing.
type Gate struct {
	record Recorder
	now    func() time.Time
}

// NewGate returns a gate that keeps refusals in record.
func NewGate(record Recorder, now func() time.Time) *Gate { return &Gate{record, now} }

// Authorize returns nil when the caller has the right, whatever states its key is for.
// Faults: CredentialsNeeded, RightMissing, RunReadOnly.
func (g *Gate) Authorize(ctx context.Context, p auth.Principal, right auth.Right) error {
	return g.refuse(ctx, p, right, "", p.May(right))
}

// AuthorizeAny refuses a caller that has none of the rights, whatever states its key is for: which of them it needs,
// and on what, is decided by who knows that. A run has rights of its own, which are decided there too.
func (g *Gate) AuthorizeAny(ctx context.Context, p auth.Principal, rights []auth.Right, state string) error {
	if p.Run != nil || len(rights) == 0 {
		return nil
	}
	for _, right := range rights {
		if p.May(right) == nil {
			return nil
		}
	}
	refusal := p.May(rights[0])
	if fault.Is(refusal, fault.RightMissing) && len(rights) > 1 {
		refusal = fault.New(fault.RightMissing, "this key may not do that: it lacks the rights of which it needs one, %s, which "+
			"its role %q does not have", listed(rights), p.Role)
	}
	return g.refuse(ctx, p, rights[0], state, refusal)
}

func listed(rights []auth.Right) string {
	var names []string
	for _, right := range rights {
		names = append(names, string(right))
	}
	return strings.Join(names, " and ")
}

// AuthorizeOn is Authorize for one state, by its name.
func (g *Gate) AuthorizeOn(ctx context.Context, p auth.Principal, right auth.Right, state string) error {
	return g.refuse(ctx, p, right, state, p.MayOn(right, state))
}

// AuthorizeFound is AuthorizeOn for a state that the caller has not named, but something that belongs to it: who may
// see some states only is not told which one that is. The record has it.
func (g *Gate) AuthorizeFound(ctx context.Context, p auth.Principal, right auth.Right, state string) error {
	refusal := p.MayOn(right, state)
	if refusal != nil && p.May(right) == nil && !p.States.Match(state) {
		refusal = fault.New(fault.RightMissing,
			"this key may not do that: it has the right %s only on %s, and this is of another state", right, p.States)
	}
	return g.refuse(ctx, p, right, state, refusal)
}

// AuthorizeAll is Authorize for what holds for all of the organization's states, or workspaces, as what says: a key for
// some of them may not do that.
func (g *Gate) AuthorizeAll(ctx context.Context, p auth.Principal, right auth.Right, what string) error {
	refusal := p.May(right)
	if refusal == nil && p.States != nil {
		refusal = fault.New(fault.RightMissing, "this key may not do that: it has the right %s only on %s, and not on all %s",
			right, p.States, what)
	}
	return g.refuse(ctx, p, right, "", refusal)
}

// AuthorizeOnAll is AuthorizeOn for every state that the patterns match, on behalf of the one that wants them.
func (g *Gate) AuthorizeOnAll(ctx context.Context, p auth.Principal, right auth.Right, states *auth.Patterns,
	wants string) error {
	return g.refuse(ctx, p, right, wants, p.MayOnAll(right, states))
}

// AuthorizeView is AuthorizeOn for what is made of a state's bytes with sensitive values masked.
func (g *Gate) AuthorizeView(ctx context.Context, p auth.Principal, right auth.Right, state string) error {
	return g.refuse(ctx, p, right, state, p.MayView(right, state))
}

func (g *Gate) refuse(ctx context.Context, p auth.Principal, right auth.Right, state string, refusal error) error {
	if g == nil || refusal == nil {
		return refusal // they may
	}
	told := fault.From(refusal).Code
	if told.Kind() != fault.Forbidden {
		return refusal // nobody is calling
	}
	return errors.Join(refusal,
		g.record.Record(ctx, Refusal(p, right, state, told, g.now().UTC().Truncate(time.Microsecond))))
}
