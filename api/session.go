package api

import "time"

// SignIn is what somebody begins a session with.
type SignIn struct {
	Org string `json:"org,omitempty"` // UUID; needed only with a key that doesn't carry it
	Key string `json:"key"`
}

// SignedIn is who somebody is, and by which session.
type SignedIn struct {
	Identity
	Session *Session `json:"session"` // null for who has come in with other credentials
}

// Session is one browser that somebody is signed in with.
type Session struct {
	ID      string    `json:"id"`
	BeganAt time.Time `json:"began_at"`
	SeenAt  time.Time `json:"seen_at"` // to about a minute
	IdleAt  time.Time `json:"idle_at"` // when it ends if nothing comes any more
	EndsAt  time.Time `json:"ends_at"` // at the latest
	Address string    `json:"address"` // where it began
	Agent   string    `json:"agent"`   // what the browser calls itself
	Current bool      `json:"current"` // it is the one that asks
}

// Sessions are all of somebody's.
type Sessions struct {
	Sessions []Session `json:"sessions"`
}

// SignedOut says how many sessions were ended.
type SignedOut struct {
	Status string `json:"status"`
	Ended  int    `json:"ended"`
}

// SignInWays are the ways in which somebody may begin a session here: with a key always.
type SignInWays struct {
	Issuer *SignInIssuer `json:"issuer"` // null where there is none
}

// SignInIssuer is who signs people in beside keys.
type SignInIssuer struct {
	Name  string `json:"name"`  // for people
	Start string `json:"start"` // the address to send the browser to
}
