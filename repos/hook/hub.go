package hook

import (
	"encoding/json"
	"strconv"
	"time"
)

// hubUser is somebody at GitHub, Gitea or Forgejo.
type hubUser struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
}

func (u hubUser) user() User { return User{number(u.ID), u.Login} }

func number(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

type hubEnd struct {
	Ref  string `json:"ref"`
	SHA  string `json:"sha"`
	Repo *struct {
		ID int64 `json:"id"`
	} `json:"repo"`
}

// hubBody is what the three of them say, of which Gitea's and Forgejo's are meant to be alike GitHub's.
type hubBody struct {
	Action      string  `json:"action"`
	Ref         string  `json:"ref"`
	After       string  `json:"after"`
	Number      int64   `json:"number"`
	Sender      hubUser `json:"sender"`
	PullRequest *struct {
		Number  int64     `json:"number"`
		Title   string    `json:"title"`
		Draft   bool      `json:"draft"`
		Merged  bool      `json:"merged"`
		User    hubUser   `json:"user"`
		Head    hubEnd    `json:"head"`
		Base    hubEnd    `json:"base"`
		Updated time.Time `json:"updated_at"`
	} `json:"pull_request"`
	Issue *struct {
		Number      int64            `json:"number"`
		Title       string           `json:"title"`
		User        hubUser          `json:"user"`
		PullRequest *json.RawMessage `json:"pull_request"`
	} `json:"issue"`
	Comment *struct {
		ID      int64     `json:"id"`
		Body    string    `json:"body"`
		User    hubUser   `json:"user"`
		Created time.Time `json:"created_at"`
	} `json:"comment"`
}

func parseHub(event string, body []byte) (e Event, err error) {
	var b hubBody
	if err := json.Unmarshal(body, &b); err != nil {
		return e, ErrUnreadable
	}
	switch event {
	case "push", "create", "delete":
		if event == "push" {
			e.pushed(b.Ref, b.After)
		}
	case "pull_request", "pull_request_sync":
		b.pull(&e)
	case "issue_comment", "pull_request_comment":
		b.comment(&e)
	}
	return e, nil
}

func (b hubBody) pull(e *Event) {
	if b.PullRequest == nil {
		return
	}
	p := b.PullRequest
	e.Kind, e.Action, e.Number, e.At = Pull, hubAction(b.Action, p.Merged), p.Number, p.Updated
	if e.Action == "" {
		e.Kind = ""
	}
	e.Head, e.HeadBranch, e.BaseBranch = p.Head.SHA, p.Head.Ref, p.Base.Ref
	e.Fork = p.Head.Repo == nil || p.Base.Repo == nil || p.Head.Repo.ID == 0 || p.Head.Repo.ID != p.Base.Repo.ID
	e.Title, e.Draft, e.Author, e.Sender = p.Title, p.Draft, p.User.user(), b.Sender.user()
}

func hubAction(action string, merged bool) Action {
	switch action {
	case "opened", "reopened":
		return Opened
	case "synchronize", "synchronized", "edited", "ready_for_review", "converted_to_draft":
		return Updated
	case "closed":
		if merged {
			return Merged
		}
		return Closed
	}
	return ""
}

func (b hubBody) comment(e *Event) {
	if b.Comment == nil || b.Issue == nil || b.Issue.PullRequest == nil || b.Action != "created" {
		return
	}
	e.Kind, e.Action, e.Number, e.At = Comment, Created, b.Issue.Number, b.Comment.Created
	e.CommentID, e.Text = number(b.Comment.ID), b.Comment.Body
	e.Title, e.Author, e.Sender = b.Issue.Title, b.Issue.User.user(), b.Comment.User.user()
	e.Fork = true // it isn't said
}
