package api

import "time"

// States is a page of the list of states, by name, or of those whose lock is held.
type States struct {
	Next   *string `json:"next"` // the next page's cursor; null at the end
	States []State `json:"states"`
}

// State is a state in a list.
type State struct {
	Name           string     `json:"name"`
	Version        *Version   `json:"version"`              // the newest; null for a state that was never written
	DeletedAt      *time.Time `json:"deleted_at,omitempty"` // absent for a state that is not deleted
	Lock           *Lock      `json:"lock"`                 // null while nobody holds it
	OpenCandidates int        `json:"open_candidates"`
	// Expectation is a change that somebody has announced; absent where there is none.
	Expectation *Expectation `json:"expectation,omitempty"`
}

// Versions is a page of a state's versions, the newest first.
type Versions struct {
	Next     *uint64   `json:"next"` // the next page's versions are before this one; null at the end
	Versions []Version `json:"versions"`
}

// Version describes a version; its bytes have an address of their own. It is also the answer to
// a rollback, to a promotion and to an undelete: the version that is the newest then.
type Version struct {
	Number           uint64    `json:"version"` // 1 for the first write, one more for each that is accepted
	Serial           uint64    `json:"serial"`  // the client's
	Lineage          string    `json:"lineage"` // the client's
	Size             int64     `json:"size"`    // bytes
	Digest           string    `json:"digest"`  // SHA-256 of the bytes, hexadecimal
	TerraformVersion string    `json:"terraform_version"`
	Encrypted        bool      `json:"encrypted"` // by the client
	Resources        *int      `json:"resources"` // null where the number is not known
	CreatedAt        time.Time `json:"created_at"`
	KeyID            string    `json:"key_id"`
	// what the key is called now; absent for one that is gone or has no name
	KeyName   string   `json:"key_name,omitempty"`
	Run       string   `json:"run,omitempty"`       // that wrote it; absent for everybody else's
	Subject   string   `json:"subject,omitempty"`   // of a token or certificate
	Who       string   `json:"who,omitempty"`       // user@host, as the lock's holder said it
	Operation string   `json:"operation,omitempty"` // of the lock that it was written under
	Address   string   `json:"address"`             // where the write came from
	RequestID string   `json:"request_id"`
	Warnings  []string `json:"warnings,omitempty"` // what the guards found in it
	Origin    *Origin  `json:"origin,omitempty"`   // absent for what a client wrote
	Purged    bool     `json:"purged,omitempty"`   // its bytes were destroyed on purpose
}

// Origin says what a version or a candidate was made from.
type Origin struct {
	Version   uint64 `json:"version,omitempty"`   // that was rolled back to
	Candidate string `json:"candidate,omitempty"` // ID of the one that was promoted
	Reason    string `json:"reason,omitempty"`
}

// Stored is the answer to a write of a state.
type Stored struct {
	Serial  uint64 `json:"serial"`
	Status  string `json:"status" enum:"success"` // always "success"
	Version uint64 `json:"version"`
}

// Purged is the answer to a purge.
type Purged struct {
	Status string `json:"status" enum:"success"` // always "success"
	// Purged are the versions that lost their bytes; absent where the purge was of one only.
	Purged []uint64 `json:"purged,omitempty"`
	// AlsoIn are other versions that have the same bytes still.
	AlsoIn []uint64 `json:"also_in,omitempty"`
	// More says that there are others than are named here.
	More bool `json:"more,omitempty"`
}

// Order is the body of what is asked for with a reason: rollback, promotion, discard and the
// release of a lock. What is absent is empty or false.
type Order struct {
	Reason string `json:"reason,omitempty"` // 1 to 1,000 characters; it is recorded
	LockID string `json:"lock_id,omitempty"`
	// Anyway promotes also over a newer version than the one that the candidate was made for.
	Anyway bool `json:"anyway,omitempty"`
	// RestorePurged promotes also bytes that were purged from the state.
	RestorePurged bool `json:"restore_purged,omitempty"`
}
