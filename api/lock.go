package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"
)

// Lock is a lock that is held.
type Lock struct {
	ID        string          `json:"id"`
	Who       string          `json:"who"`
	Operation string          `json:"operation"`
	Since     time.Time       `json:"since"`
	Seen      time.Time       `json:"last_seen"` // the last request with this ID by the key that acquired it
	KeyID     string          `json:"key_id"`
	Run       string          `json:"run,omitempty"`          // that holds it; absent for everybody else
	Epoch     int64           `json:"epoch,omitempty"`        // of that run, when it took the lock
	Info      json.RawMessage `json:"info" schema:"LockInfo"` // the LockInfo, as the holder sent it
}

// LockInfo is what a client says of itself when it locks: what Terraform and OpenTofu send.
// Only the ID is needed. As an answer it has no member at all while nobody holds the lock.
type LockInfo struct {
	ID        string `json:",omitempty"` // of the client's choice, good for one lock; locks are matched by it
	Operation string `json:",omitempty"`
	Info      string `json:",omitempty"`
	Who       string `json:",omitempty"` // user@host
	Version   string `json:",omitempty"` // of the client
	Created   string `json:",omitempty"` // RFC 3339
	Path      string `json:",omitempty"`
}

// String says who holds the lock, in a sentence without its end.
func (l LockInfo) String() string {
	text := fmt.Sprintf("%s holds the lock %s", cmp.Or(l.Who, "somebody"), l.ID)
	if l.Operation != "" {
		text += " for " + l.Operation
	}
	if l.Created != "" {
		text += " since " + l.Created
	}
	return text
}

// Released is the answer to the release of somebody else's lock.
type Released struct {
	Released *Lock  `json:"released"`              // null if nobody held it
	Status   string `json:"status" enum:"success"` // always "success"
}
