package auth

import "github.com/google/uuid"

// Principal is who is calling. Domain services take it as a parameter, so that a call
// without one can't be written.
type Principal struct {
	Org     uuid.UUID // never uuid.Nil for a verified caller
	OrgName string    // for people; may be empty
	KeyID   string    // fingerprint of the key's hash, as `holdfast key list` shows it; not a secret
	Address string    // client address without port
	Request string    // request ID
}
