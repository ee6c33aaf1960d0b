package server

import (
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
