package auth

import "github.com/google/uuid"

// Login is how somebody proved who they are when a session began, and what of that has to hold
// still for as long as the session goes on. What they may do is not in it: that is as it is now.
type Login struct {
	Org     uuid.UUID
	KeyID   string // of the key, or "oidc.<name>" of the rule for tokens
	Subject string // whom a token was made for; empty for a key
	// Rule is the fingerprint of what the rule asked of the token; empty for a key, whose ID is one.
	Rule string
}
