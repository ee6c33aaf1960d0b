package hook

import (
	"encoding/json"
	"strings"
	"time"
)

type labUser struct {
	ID       int64  `json:"id"`
	Username string `json:"username"`
}

// labTime is a time in one of the forms that GitLab has had.
type labTime struct{ time.Time }

// UnmarshalJSON reads one; what can't be read is no time.
func (t *labTime) UnmarshalJSON(raw []byte) error {
	text := strings.Trim(string(raw), `"`)
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05 MST", "2006-01-02 15:04:05 -0700"} {
		if at, err := time.Parse(layout, text); err == nil {
			t.Time = at
			return nil
		}
	}
	return nil
}

type labRequest struct {
	IID        int64   `json:"iid"`
	ID         int64   `json:"id"`
	Title      string  `json:"title"`
	Action     string  `json:"action"`
	Source     string  `json:"source_branch"`
	Target     string  `json:"target_branch"`
	SourceID   int64   `json:"source_project_id"`
	TargetID   int64   `json:"target_project_id"`
	AuthorID   int64   `json:"author_id"`
	Draft      bool    `json:"draft"`
	Updated    labTime `json:"updated_at"`
	LastCommit struct {
		ID string `json:"id"`
	} `json:"last_commit"`
	// Of a note.
	Note     string  `json:"note"`
	Noteable string  `json:"noteable_type"`
	System   bool    `json:"system"`
	Created  labTime `json:"created_at"`
}

type labBody struct {
	Ref          string      `json:"ref"`
	After        string      `json:"after"`
	User         labUser     `json:"user"`
	Attributes   labRequest  `json:"object_attributes"`
	MergeRequest *labRequest `json:"merge_request"`
}

func parseLab(event string, body []byte) (e Event, err error) {
	var b labBody
	if err := json.Unmarshal(body, &b); err != nil {
		return e, ErrUnreadable
	}
	switch event {
	case "Push Hook":
		e.pushed(b.Ref, b.After)
	case "Merge Request Hook":
		if e.Action = labAction(b.Attributes.Action); e.Action != "" {
			e.Kind, e.At = Pull, b.Attributes.Updated.Time
			b.Attributes.fill(&e)
			e.Sender = b.sender()
		}
	case "Note Hook":
		b.note(&e)
	}
	return e, nil
}

func (b labBody) sender() User { return User{number(b.User.ID), b.User.Username} }

func (r labRequest) fill(e *Event) {
	e.Number, e.Title, e.Draft, e.Head = r.IID, r.Title, r.Draft, r.LastCommit.ID
	e.HeadBranch, e.BaseBranch, e.Author = r.Source, r.Target, User{ID: number(r.AuthorID)}
	e.Fork = r.SourceID == 0 || r.SourceID != r.TargetID
}

func labAction(action string) Action {
	switch action {
	case "open", "reopen":
		return Opened
	case "update":
		return Updated
	case "merge":
		return Merged
	case "close":
		return Closed
	}
	return ""
}

func (b labBody) note(e *Event) {
	a := b.Attributes
	if b.MergeRequest == nil || a.Noteable != "MergeRequest" || a.System || a.Action != "" && a.Action != "create" {
		return
	}
	b.MergeRequest.fill(e)
	e.Kind, e.Action, e.At = Comment, Created, a.Created.Time
	e.CommentID, e.Text, e.Sender = number(a.ID), a.Note, b.sender()
}
