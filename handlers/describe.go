package handlers

import (
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/state"
)

// describer describes an organization's states to it. It returns what a key of the organization's is
// called, by its ID; empty for what is called nothing. Nil knows no names.
type describer func(keyID string) string

func (d describer) called(keyID string) string {
	if d == nil || keyID == "" {
		return ""
	}
	return d(keyID)
}

func (d describer) stateOf(l state.Listed) api.State {
	item := api.State{Name: string(l.Name), Lock: lockOf(l.Head.Lock), OpenCandidates: l.OpenCandidates,
		Expectation: expectationOf(l.Head.Expected)}
	if l.Head.Version.Number > 0 {
		newest := d.versionOf(l.Head.Version)
		item.Version = &newest
	}
	if l.Head.Deleted {
		item.DeletedAt = &l.Head.DeletedAt
	}
	return item
}

func (d describer) versionOf(v state.Version) api.Version {
	item := api.Version{
		Number: v.Number, Serial: v.Serial, Lineage: v.Lineage, Size: v.Size, Digest: v.Digest.String(),
		TerraformVersion: v.TerraformVersion, Encrypted: v.Encrypted, CreatedAt: v.CreatedAt,
		KeyID: v.Author.KeyID, KeyName: d.called(v.Author.KeyID), Run: auth.RunOfKeyID(v.Author.KeyID),
		Subject: v.Author.Subject, Who: v.Author.Who, Operation: v.Author.Operation,
		Address: v.Author.Address, RequestID: v.Author.Request, Warnings: v.Warnings.List(), Purged: v.Purged,
	}
	if v.Resources >= 0 {
		item.Resources = &v.Resources
	}
	if v.Origin != (state.Origin{}) {
		origin := api.Origin(v.Origin)
		item.Origin = &origin
	}
	return item
}

func lockOf(l *state.Lock) *api.Lock {
	if l == nil {
		return nil
	}
	return &api.Lock{
		ID: l.Info.ID, Who: l.Info.Who, Operation: l.Info.Operation, Since: l.Since, Seen: l.Seen,
		KeyID: l.KeyID, Run: l.Run.ID, Epoch: l.Run.Epoch, Info: l.Info.Raw,
	}
}

func (d describer) candidateOf(c state.Candidate) api.Candidate {
	item := api.Candidate{ID: c.ID, Status: string(c.Status), Source: string(c.Source), Base: c.Number,
		Version: d.versionOf(c.Version)}
	if !c.Decided.IsZero() {
		item.Decided = &c.Decided
	}
	return item
}

func eventOf(e audit.Event) api.Event {
	return api.Event{
		Sequence: e.Sequence, At: e.At, Action: string(e.Action), State: e.State, Version: e.Version, LockID: e.LockID,
		Refused: string(e.Refused), Reason: e.Reason, Note: e.Note, KeyID: e.Actor.KeyID, KeyName: e.Actor.KeyName,
		Subject: e.Actor.Subject, Role: string(e.Actor.Role), Address: e.Actor.Address, RequestID: e.Actor.Request,
	}
}

// items renders a list; an empty one as [], never null.
func items[T, I any](list []T, render func(T) I) []I {
	rendered := make([]I, 0, len(list))
	for _, one := range list {
		rendered = append(rendered, render(one))
	}
	return rendered
}
