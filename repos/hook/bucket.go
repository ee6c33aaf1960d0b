package hook

import (
	"encoding/json"
	"strconv"
	"time"
)

// bucketUser is somebody at Bitbucket Cloud, or at a Data Center.
type bucketUser struct {
	AccountID string `json:"account_id"`
	UUID      string `json:"uuid"`
	Nickname  string `json:"nickname"`
	ID        int64  `json:"id"`
	Name      string `json:"name"`
}

func (u bucketUser) user() User {
	return User{either(either(u.UUID, u.AccountID), number(u.ID)), either(u.Nickname, u.Name)}
}

type bucketEnd struct {
	Branch struct {
		Name string `json:"name"`
	} `json:"branch"`
	Commit struct {
		Hash string `json:"hash"`
	} `json:"commit"`
	Repository struct {
		UUID string `json:"uuid"`
	} `json:"repository"`
}

// serverEnd is what bucketEnd is at a Data Center.
type serverEnd struct {
	DisplayID    string `json:"displayId"`
	LatestCommit string `json:"latestCommit"`
	Repository   struct {
		ID int64 `json:"id"`
	} `json:"repository"`
}

type bucketBody struct {
	Actor bucketUser `json:"actor"`
	Push  struct {
		Changes []struct {
			New *bucketRef `json:"new"`
			Old *bucketRef `json:"old"`
		} `json:"changes"`
	} `json:"push"`
	// encoding/json prefers the member whose case is the same.
	PullRequest *struct {
		ID          int64      `json:"id"`
		Title       string     `json:"title"`
		Draft       bool       `json:"draft"`
		Author      bucketUser `json:"author"`
		Source      bucketEnd  `json:"source"`
		Destination bucketEnd  `json:"destination"`
		Updated     time.Time  `json:"updated_on"`
	} `json:"pullrequest"`
	// Of a Data Center.
	Date    string `json:"date"`
	Changes []struct {
		Ref    struct{ ID string } `json:"ref"`
		ToHash string              `json:"toHash"`
		Type   string              `json:"type"`
	} `json:"changes"`
	ServerPull *struct {
		ID     int64  `json:"id"`
		Title  string `json:"title"`
		Draft  bool   `json:"draft"`
		Author struct {
			User bucketUser `json:"user"`
		} `json:"author"`
		From    serverEnd `json:"fromRef"`
		To      serverEnd `json:"toRef"`
		Updated int64     `json:"updatedDate"`
	} `json:"pullRequest"`
	Comment *struct {
		ID      int64 `json:"id"`
		Content struct {
			Raw string `json:"raw"`
		} `json:"content"`
		User    bucketUser `json:"user"`
		Created time.Time  `json:"created_on"`
		// Of a Data Center.
		Text   string     `json:"text"`
		Author bucketUser `json:"author"`
		Date   int64      `json:"createdDate"`
	} `json:"comment"`
}

type bucketRef struct {
	Type   string `json:"type"`
	Name   string `json:"name"`
	Target struct {
		Hash string `json:"hash"`
	} `json:"target"`
}

func parseBucket(event string, body []byte) (e Event, err error) {
	var b bucketBody
	if event == "diagnostics:ping" {
		return e, nil
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return e, ErrUnreadable
	}
	e.Sender = b.Actor.user()
	switch event {
	case "repo:push", "repo:refs_changed":
		b.pushes(&e)
	case "pullrequest:created", "pr:opened", "pr:reopened":
		b.pull(&e, Opened)
	case "pullrequest:updated", "pr:modified", "pr:from_ref_updated", "pr:to_ref_updated":
		b.pull(&e, Updated)
	case "pullrequest:fulfilled", "pr:merged":
		b.pull(&e, Merged)
	case "pullrequest:rejected", "pr:declined", "pr:deleted":
		b.pull(&e, Closed)
	case "pullrequest:comment_created", "pr:comment:added":
		b.comment(&e)
	}
	return e, nil
}

func (b bucketBody) pushes(e *Event) {
	for _, c := range b.Push.Changes {
		switch {
		case c.New != nil && c.New.Type == "branch":
			e.pushed("refs/heads/"+c.New.Name, c.New.Target.Hash)
		case c.New == nil && c.Old != nil && c.Old.Type == "branch":
			e.pushed("refs/heads/"+c.Old.Name, "")
		}
	}
	for _, c := range b.Changes {
		e.pushed(c.Ref.ID, c.ToHash)
	}
}

func (b bucketBody) pull(e *Event, action Action) {
	switch {
	case b.PullRequest != nil:
		p := b.PullRequest
		e.Number, e.Title, e.Draft, e.Author, e.At = p.ID, p.Title, p.Draft, p.Author.user(), p.Updated
		e.Head, e.HeadBranch, e.BaseBranch = p.Source.Commit.Hash, p.Source.Branch.Name, p.Destination.Branch.Name
		e.Fork = p.Source.Repository.UUID == "" || p.Source.Repository.UUID != p.Destination.Repository.UUID
	case b.ServerPull != nil:
		p := b.ServerPull
		e.Number, e.Title, e.Draft, e.Author, e.At = p.ID, p.Title, p.Draft, p.Author.User.user(), millis(p.Updated)
		e.Head, e.HeadBranch, e.BaseBranch = p.From.LatestCommit, p.From.DisplayID, p.To.DisplayID
		e.Fork = p.From.Repository.ID == 0 || p.From.Repository.ID != p.To.Repository.ID
	default:
		return
	}
	e.Kind, e.Action = Pull, action
}

func (b bucketBody) comment(e *Event) {
	if b.Comment == nil {
		return
	}
	if b.pull(e, Created); e.Kind == "" {
		return
	}
	c := b.Comment
	e.Kind, e.CommentID, e.Text, e.At = Comment, strconv.FormatInt(c.ID, 10), either(c.Content.Raw, c.Text), c.Created
	e.Sender = c.User.user()
	if b.ServerPull != nil {
		e.Sender, e.At = c.Author.user(), millis(c.Date)
	}
}

func millis(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}
