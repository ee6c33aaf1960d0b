package api

import "time"

// Events is a page of the audit log, the newest first.
type Events struct {
	Events []Event `json:"events"`
	Next   *uint64 `json:"next"` // the next page's events are before this sequence number; null at the end
}

// Event is one line of the audit log: a change, or a refusal for want of a right.
type Event struct {
	Sequence  uint64    `json:"sequence"` // grows within an organization
	At        time.Time `json:"at"`
	Action    string    `json:"action"`            // such as state.write or access.refused
	State     string    `json:"state,omitempty"`   // absent where it is about none
	Version   uint64    `json:"version,omitempty"` // absent where it is about none
	LockID    string    `json:"lock_id,omitempty"`
	Refused   string    `json:"refused,omitempty"` // the right that was missing
	Reason    string    `json:"reason,omitempty"`  // as the caller gave it
	Note      string    `json:"note,omitempty"`
	KeyID     string    `json:"key_id"`
	KeyName   string    `json:"key_name,omitempty"`
	Subject   string    `json:"subject,omitempty"` // of a token or certificate
	Role      string    `json:"role,omitempty"`
	Address   string    `json:"address,omitempty"` // where the request came from
	RequestID string    `json:"request_id,omitempty"`
}

// AuditChain says how far the chain of an organization's audit log has come, and whether a part of it holds.
type AuditChain struct {
	First   uint64       `json:"first"`   // sequence number of the chain's first entry; 0 where there is no chain yet
	Entries uint64       `json:"entries"` // how many the chain has, removed ones too
	Removed *AuditStart  `json:"removed"` // null where retention has removed nothing
	Head    *string      `json:"head"`    // its newest entry, as SEQUENCE:HASH; null where there is no chain yet
	Checked int          `json:"checked"` // how many entries this answer is about
	Breaks  []ChainBreak `json:"breaks"`  // empty where all of them are as they were
	Next    *string      `json:"next"`    // what is left is behind this entry; null at the end
}

// AuditStart is the last entry that retention has removed: the first that is left stands on its hash. A head that was
// kept elsewhere before it can't be compared any more.
type AuditStart struct {
	Entry string    `json:"entry"` // as SEQUENCE:HASH
	Count uint64    `json:"count"` // how many of the chain's entries are removed
	At    time.Time `json:"at"`    // when the entry was written
}

// ChainBreak is a place where a chain doesn't hold.
type ChainBreak struct {
	Sequence uint64 `json:"sequence"` // of the entry that shows it
	Damage   string `json:"damage"`   // missing, changed, moved, added, checkpoint or head_lost
	Says     string `json:"says"`
}
