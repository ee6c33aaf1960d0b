package handlers

import (
	"encoding/json"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
)

// stateItem is a state in a list.
type stateItem struct {
	Name      string       `json:"name"`
	Version   *versionItem `json:"version"` // null for one that was never written
	DeletedAt *time.Time   `json:"deleted_at,omitempty"`
	Lock      *lockItem    `json:"lock"` // null while nobody holds it
	Open      int          `json:"open_candidates"`
}

func stateItemOf(l state.Listed) stateItem {
	item := stateItem{Name: string(l.Name), Lock: lockItemOf(l.Head.Lock), Open: l.OpenCandidates}
	if l.Head.Version.Number > 0 {
		item.Version = versionItemOf(l.Head.Version)
	}
	if l.Head.Deleted {
		item.DeletedAt = &l.Head.DeletedAt
	}
	return item
}

// versionItem describes a version; its bytes have an address of their own.
type versionItem struct {
	Number           uint64      `json:"version"`
	Serial           uint64      `json:"serial"`
	Lineage          string      `json:"lineage"`
	Size             int64       `json:"size"`
	Digest           string      `json:"digest"` // SHA-256, hexadecimal
	TerraformVersion string      `json:"terraform_version"`
	Encrypted        bool        `json:"encrypted"`
	Resources        *int        `json:"resources"` // null where it is not known
	CreatedAt        time.Time   `json:"created_at"`
	KeyID            string      `json:"key_id"`
	Subject          string      `json:"subject,omitempty"`
	Who              string      `json:"who,omitempty"`
	Operation        string      `json:"operation,omitempty"`
	Address          string      `json:"address"`
	RequestID        string      `json:"request_id"`
	Warnings         []string    `json:"warnings,omitempty"`
	Origin           *originItem `json:"origin,omitempty"`
	Purged           bool        `json:"purged,omitempty"`
}

type originItem struct {
	Version   uint64 `json:"version,omitempty"`
	Candidate string `json:"candidate,omitempty"`
	Reason    string `json:"reason,omitempty"`
}

func versionItemOf(v state.Version) *versionItem {
	item := &versionItem{
		Number: v.Number, Serial: v.Serial, Lineage: v.Lineage, Size: v.Size, Digest: v.Digest.String(),
		TerraformVersion: v.TerraformVersion, Encrypted: v.Encrypted, CreatedAt: v.CreatedAt,
		KeyID: v.Author.KeyID, Subject: v.Author.Subject, Who: v.Author.Who, Operation: v.Author.Operation,
		Address: v.Author.Address, RequestID: v.Author.Request, Warnings: v.Warnings.List(), Purged: v.Purged,
	}
	if v.Resources >= 0 {
		item.Resources = &v.Resources
	}
	if v.Origin != (state.Origin{}) {
		item.Origin = &originItem{Version: v.Origin.Version, Candidate: v.Origin.Candidate, Reason: v.Origin.Reason}
	}
	return item
}

// lockItem is a held lock.
type lockItem struct {
	ID        string          `json:"id"`
	Who       string          `json:"who"`
	Operation string          `json:"operation"`
	Since     time.Time       `json:"since"`
	Seen      time.Time       `json:"last_seen"` // the last request with this ID by the key that took it
	KeyID     string          `json:"key_id"`
	Info      json.RawMessage `json:"info"` // as the holder sent it
}

func lockItemOf(l *state.Lock) *lockItem {
	if l == nil {
		return nil
	}
	return &lockItem{ID: l.Info.ID, Who: l.Info.Who, Operation: l.Info.Operation, Since: l.Since, Seen: l.Seen, KeyID: l.KeyID, Info: l.Info.Raw}
}

// candidateItem is a candidate in a list.
type candidateItem struct {
	ID      string                `json:"id"`
	Status  state.CandidateStatus `json:"status"`
	Source  state.Source          `json:"source"`
	Decided *time.Time            `json:"decided_at,omitempty"`
	Base    uint64                `json:"base_version"` // the newest version when it came
	*versionItem
}

func candidateItemOf(c state.Candidate) candidateItem {
	item := candidateItem{ID: c.ID, Status: c.Status, Source: c.Source, Base: c.Number, versionItem: versionItemOf(c.Version)}
	if !c.Decided.IsZero() {
		item.Decided = &c.Decided
	}
	return item
}

// eventItem is one line of the audit log.
type eventItem struct {
	Sequence  uint64       `json:"sequence"`
	At        time.Time    `json:"at"`
	Action    audit.Action `json:"action"`
	State     string       `json:"state,omitempty"`
	Version   uint64       `json:"version,omitempty"`
	LockID    string       `json:"lock_id,omitempty"`
	Refused   string       `json:"refused,omitempty"`
	Reason    string       `json:"reason,omitempty"`
	Note      string       `json:"note,omitempty"`
	KeyID     string       `json:"key_id"`
	KeyName   string       `json:"key_name,omitempty"`
	Subject   string       `json:"subject,omitempty"`
	Role      string       `json:"role,omitempty"`
	Address   string       `json:"address,omitempty"`
	RequestID string       `json:"request_id,omitempty"`
}

func eventItemOf(e audit.Event) eventItem {
	return eventItem{
		Sequence: e.Sequence, At: e.At, Action: e.Action, State: e.State, Version: e.Version, LockID: e.LockID,
		Refused: string(e.Refused), Reason: e.Reason, Note: e.Note, KeyID: e.Actor.KeyID, KeyName: e.Actor.KeyName,
		Subject: e.Actor.Subject, Role: string(e.Actor.Role), Address: e.Actor.Address, RequestID: e.Actor.Request,
	}
}

// items renders a list; an empty one as [], never null.
func items[T, I any](list []T, render func(T) I) []I {
	rendered := make([]I, 0, len(list))
	for _, one := range list {
		rendered = append(rendered, render(one))
	}
	return rendered
}
