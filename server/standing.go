package server

import (
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/pulls"
)

// standing says who may still do what they did, by the keys and rules in force.
type standing struct{ ring func() *keyring.Keyring }

// MayStill implements runs.Standing. The server itself may, and so may who commands by a comment: the forge judges
// them.
func (s standing) MayStill(org uuid.UUID, who api.Actor, right auth.Right, workspace string) bool {
	if who.KeyID == audit.Server().KeyID || who.KeyID == pulls.KeyID {
		return true
	}
	o, ok := s.ring().Organizations[org]
	if !ok {
		return false
	}
	grant, ok := o.Grant(who.KeyID)
	return ok && auth.Principal{Org: org, KeyID: who.KeyID, Grant: grant}.MayOn(right, workspace) == nil
}

// callers are the keys of an organization, and the rules that let people in, which are good now.
func (s standing) callers(org uuid.UUID) (all []auth.Principal) {
	o, ok := s.ring().Organizations[org]
	if !ok {
		return nil
	}
	for _, k := range o.Keys {
		if k.Expires.IsZero() || k.Expires.After(time.Now()) {
			all = append(all, auth.Principal{Org: org, KeyID: k.ID, KeyName: k.Called(), Grant: k.Grant, Exposure: o.Exposure})
		}
	}
	for _, r := range o.Tokens {
		all = append(all, auth.Principal{Org: org, KeyID: r.ID(), KeyName: r.Name, Grant: r.Grant, Exposure: o.Exposure})
	}
	for _, r := range o.Certificates {
		all = append(all, auth.Principal{Org: org, KeyID: r.ID(), KeyName: r.Name, Grant: r.Grant, Exposure: o.Exposure})
	}
	return all
}
