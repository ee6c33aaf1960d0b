package webhook

import (
	"encoding/json"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/internal/links"
)

// notice is an event as it is told: as in the audit log, with the organization, and in words.
type notice struct {
	// Text is for Slack, Mattermost, Rocket.Chat and Google Chat, Content for Discord: the same.
	Text    string `json:"text"`
	Content string `json:"content"`
	// AllowedMentions has Discord mention nobody, whatever somebody wrote.
	AllowedMentions mentions `json:"allowed_mentions"`

	ID        string       `json:"id"` // the same in every try
	Org       string       `json:"org"`
	OrgName   string       `json:"org_name,omitempty"`
	Sequence  uint64       `json:"sequence"`
	At        time.Time    `json:"at"`
	Action    audit.Action `json:"action"`
	State     string       `json:"state"`
	Version   uint64       `json:"version,omitempty"`
	LockID    string       `json:"lock_id,omitempty"`
	Refused   string       `json:"refused,omitempty"`
	Reason    string       `json:"reason,omitempty"`
	Note      string       `json:"note,omitempty"`
	KeyID     string       `json:"key_id"`
	KeyName   string       `json:"key_name,omitempty"`
	Subject   string       `json:"subject,omitempty"`
	Address   string       `json:"address,omitempty"`
	RequestID string       `json:"request_id,omitempty"`
	Commands  []string     `json:"commands,omitempty"` // to look at it, and to decide
	Link      string       `json:"link,omitempty"`
}

// mentions is what Discord may make of a text.
type mentions struct {
	Parse []string `json:"parse"`
}

// bodyOf is the JSON of a notice.
func bodyOf(e audit.Event, to Receiver, public string) ([]byte, error) {
	n := notice{
		ID: idOf(e), Org: e.Org.String(), OrgName: to.Name, Sequence: e.Sequence, At: e.At, Action: e.Action, State: e.State,
		Version: e.Version,
		LockID:  e.LockID, Refused: string(e.Refused), Reason: e.Reason, Note: e.Note, KeyID: e.Actor.KeyID,
		KeyName: e.Actor.KeyName,
		Subject: e.Actor.Subject, Address: e.Actor.Address, RequestID: e.Actor.Request,
		Commands: e.Commands(), Link: linkTo(links.Site(public), e), AllowedMentions: mentions{Parse: []string{}},
	}
	n.Text = textOf(n)
	n.Content = n.Text
	return json.Marshal(n)
}
