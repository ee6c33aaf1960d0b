package api

import "time"

// Key is what somebody may come in with: a key, or a rule for tokens or certificates.
type Key struct {
	ID      string     `json:"id"`
	Name    string     `json:"name"` // empty for a key in the organization's own section
	Kind    string     `json:"kind"` // key, oidc or cert: the last two are rules, which nobody changes here
	Role    string     `json:"role"`
	States  []string   `json:"states"`  // patterns; null for every state
	Expires *time.Time `json:"expires"` // null for never
	From    []string   `json:"from"`    // networks; null for anywhere
	Label   string     `json:"label"`
	// UsedAt is when it was last used, and UsedFrom from where; null where that is not known.
	UsedAt   *time.Time `json:"used_at"`
	UsedFrom string     `json:"used_from"`
	Own      bool       `json:"own"` // the caller has come in with it
}

// Keys are all of an organization's.
type Keys struct {
	Keys []Key `json:"keys"`
}

// KeyWanted is a key that somebody wants.
type KeyWanted struct {
	Name    string     `json:"name,omitempty"` // default: the role
	Role    string     `json:"role"`
	States  []string   `json:"states,omitempty"` // patterns; absent for every state
	Expires *time.Time `json:"expires,omitempty"`
	From    []string   `json:"from,omitempty"` // addresses and networks
	Label   string     `json:"label,omitempty"`
}

// KeyRotation says what is to take the place of a key.
type KeyRotation struct {
	Until   *time.Time `json:"until,omitempty"`   // when the old key ends; default: in seven days
	Expires *time.Time `json:"expires,omitempty"` // when the new one does; default: as the old one did
	Label   string     `json:"label,omitempty"`
}

// KeyMade is a new key. Its text is shown only now.
type KeyMade struct {
	Key
	Text string `json:"key"`
	// Old is the key in whose place it is, with its new name and end; null for none.
	Old *Key `json:"old"`
}

// KeyRevoked is a key that was taken away.
type KeyRevoked struct {
	Key
	Left int `json:"keys_left"`
}
