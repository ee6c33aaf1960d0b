package api

import "encoding/json"

// ErrorCode says what went wrong. Codes never change; docs/api.md lists them, and package
// fault has them as constants.
type ErrorCode string

// Failure is the body of every error answer but one: a 409 for a held lock has the holder's
// LockInfo instead, because Terraform and OpenTofu read it.
type Failure struct {
	Status    string    `json:"status" enum:"error"` // always "error"
	Code      ErrorCode `json:"code"`
	Message   string    `json:"message"` // for people; it may change
	RequestID string    `json:"request_id"`
	// Details lists the single faults of an input that has several.
	Details []Detail `json:"details,omitempty"`
	// Lock is the LockInfo of the holder, as the holder sent it, where the fault is about a
	// lock that somebody else holds.
	Lock json.RawMessage `json:"lock,omitempty" schema:"LockInfo"`
}

// Detail is one fault of an input.
type Detail struct {
	Pointer string `json:"pointer"` // where, as a JSON Pointer (RFC 6901)
	Rule    string `json:"rule"`    // what must hold there
}

// Done is the answer to what changes something and has nothing more to say.
type Done struct {
	Status string `json:"status" enum:"success"` // always "success"
}
