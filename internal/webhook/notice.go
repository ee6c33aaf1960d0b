package webhook

import (
	"time"

	"github.com/holdfast/holdfast/audit"
)

// notice is an event as it is told: as in the audit log, with the organization.
type notice struct {
	Org       string       `json:"org"`
	Sequence  uint64       `json:"sequence"`
	At        time.Time    `json:"at"`
	Action    audit.Action `json:"action"`
	State     string       `json:"state"`
	Version   uint64       `json:"version,omitempty"`
	LockID    string       `json:"lock_id,omitempty"`
	Reason    string       `json:"reason,omitempty"`
	Note      string       `json:"note,omitempty"`
	KeyID     string       `json:"key_id"`
	KeyName   string       `json:"key_name,omitempty"`
	Subject   string       `json:"subject,omitempty"`
	Address   string       `json:"address,omitempty"`
	RequestID string       `json:"request_id,omitempty"`
}

func noticeOf(e audit.Event) notice {
	return notice{
		Org: e.Org.String(), Sequence: e.Sequence, At: e.At, Action: e.Action, State: e.State, Version: e.Version,
		LockID: e.LockID, Reason: e.Reason, Note: e.Note, KeyID: e.Actor.KeyID, KeyName: e.Actor.KeyName,
		Subject: e.Actor.Subject, Address: e.Actor.Address, RequestID: e.Actor.Request,
	}
}
