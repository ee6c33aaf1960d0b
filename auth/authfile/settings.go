package authfile

import (
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
)

// orgSettings is what the organizations of a file say.
type orgSettings map[uuid.UUID]*Organization

func settingsOf(d *Document) orgSettings {
	s := make(orgSettings, len(d.orgs))
	for i := range d.orgs {
		s[d.orgs[i].ID] = &d.orgs[i]
	}
	return s
}

func (w *Watcher) find(org uuid.UUID) (*Organization, bool) {
	o, ok := (*w.inForce.Load())[org]
	return o, ok
}

// Policy returns how an organization wants a state kept: what its own section says, then
// what its sections of states say that match the name, in the order of the file, so that
// the last one holds. Nothing of an organization that is not there is ever removed: it may
// come back.
func (w *Watcher) Policy(org uuid.UUID, name string) state.Policy {
	policy := state.DefaultPolicy()
	o, ok := w.find(org)
	if !ok {
		policy.Grace = 0
		return policy
	}
	for _, rule := range o.policies {
		if rule.states.Match(name) {
			rule.apply(&policy)
		}
	}
	return policy
}

// NotifyURL returns where an organization's notices go; empty for nowhere.
func (w *Watcher) NotifyURL(org uuid.UUID) string {
	if o, ok := w.find(org); ok {
		return o.NotifyURL
	}
	return ""
}

// Quota is how many bytes an organization may have stored, as its section says: zero for
// the server's default, auth.Unlimited for as many as it likes.
func (w *Watcher) Quota(org uuid.UUID) int64 {
	if o, ok := w.find(org); ok {
		return o.Limits.Quota
	}
	return 0
}

// IsOnly reports whether there is no other organization.
func (w *Watcher) IsOnly(org uuid.UUID) bool {
	all := *w.inForce.Load()
	_, ok := all[org]
	return ok && len(all) == 1
}
