// Package session has the sessions of people who use the page: each begins when somebody shows a
// key, or comes back from an issuer, and is known by a token that a browser keeps in a cookie.
//
// A session says who somebody is and nothing about what they may do: the principal of each request
// is made anew from the keys and rules in force. So a key that is revoked, an expiry and another
// role count at the next request.
package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
)

// Session is one browser that somebody is signed in with.
type Session struct {
	Hash  Hash // of its token
	Login auth.Login
	// Began is when somebody signed in; Seen is about when the last request came.
	Began, Seen time.Time
	Ends        time.Time // the first moment at which it is over, however much it is used
	// Address and Agent are where it began, for whoever looks at the list.
	Address string
	Agent   string // what the browser calls itself; cut off at MaxAgent bytes
}

// MaxAgent is how much is kept of what a browser calls itself.
const MaxAgent = 200

// Hash is the SHA-256 of a token: it alone is kept, so that who reads the store can't sign in.
type Hash [sha256.Size]byte

// String is the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// ID is what lists call the session. It is no secret: nobody finds a token by it.
func (s Session) ID() string { return s.Hash.String()[:16] }

// Holder is who has sessions: all of one key, or of one subject of a rule, are the same one's.
type Holder struct {
	Org            uuid.UUID
	KeyID, Subject string
}

// Holder returns whose the session is.
func (s Session) Holder() Holder { return Holder{s.Login.Org, s.Login.KeyID, s.Login.Subject} }

// Store keeps sessions, each until somebody removes it or Sweep does. It judges none: whether one is
// over is for the Service to say. Whatever it is asked about one organization touches no other's.
// What returns without an error is durable. It is safe for concurrent use, also by several processes.
type Store interface {
	// Add keeps a session. Afterwards its holder has at most limit: those that were seen longest
	// ago make room, but never the new one. They are returned, in no order.
	Add(ctx context.Context, s Session, limit int) (gone []Session, err error)
	// Session returns an organization's session with this hash; found is false where there is none.
	Session(ctx context.Context, org uuid.UUID, h Hash) (s Session, found bool, err error)
	// Sessions returns a holder's, the one that was seen last first.
	Sessions(ctx context.Context, of Holder) ([]Session, error)
	// Touch says that a session was seen. It never takes the time back, and does nothing where there
	// is no such session: it brings none back that was removed.
	Touch(ctx context.Context, org uuid.UUID, h Hash, at time.Time) error
	// Remove ends a session, and reports whether it was there: of two who remove one, one is told so.
	Remove(ctx context.Context, org uuid.UUID, h Hash) (removed bool, err error)
	// RemoveAll ends all sessions of a holder, and returns how many those were.
	RemoveAll(ctx context.Context, of Holder) (removed int, err error)
	// Sweep removes sessions of all organizations, at most limit of them, that were last seen before
	// idle, or whose Ends is not after now. It returns how many those were: fewer than limit when
	// none is left.
	Sweep(ctx context.Context, now, idle time.Time, limit int) (removed int, err error)
}
