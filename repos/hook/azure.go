package hook

import (
	"encoding/json"
	"strings"
	"time"
)

type azureUser struct {
	ID         string `json:"id"`
	UniqueName string `json:"uniqueName"`
}

type azurePull struct {
	ID         int64     `json:"pullRequestId"`
	Title      string    `json:"title"`
	Draft      bool      `json:"isDraft"`
	Status     string    `json:"status"`
	Source     string    `json:"sourceRefName"`
	Target     string    `json:"targetRefName"`
	CreatedBy  azureUser `json:"createdBy"`
	LastSource struct {
		CommitID string `json:"commitId"`
	} `json:"lastMergeSourceCommit"`
	ForkSource *json.RawMessage `json:"forkSource"`
}

type azureBody struct {
	ID       string    `json:"id"`
	Event    string    `json:"eventType"`
	Created  time.Time `json:"createdDate"`
	Resource struct {
		azurePull
		RefUpdates []struct {
			Name  string `json:"name"`
			NewID string `json:"newObjectId"`
		} `json:"refUpdates"`
		PushedBy azureUser `json:"pushedBy"`
		// Of a comment.
		Comment *struct {
			ID      int64     `json:"id"`
			Content string    `json:"content"`
			Kind    string    `json:"commentType"`
			Author  azureUser `json:"author"`
		} `json:"comment"`
		PullRequest *azurePull `json:"pullRequest"`
	} `json:"resource"`
}

// parseAzure reads what Azure DevOps tells. It has everything, the ID of the delivery too, in the body.
func parseAzure(body []byte) (e Event, err error) {
	var b azureBody
	if err := json.Unmarshal(body, &b); err != nil {
		return e, ErrUnreadable
	}
	e.Delivery, e.At = b.ID, b.Created
	r := b.Resource
	switch b.Event {
	case "git.push":
		for _, u := range r.RefUpdates {
			e.pushed(u.Name, u.NewID)
		}
		e.Sender = User{r.PushedBy.ID, r.PushedBy.UniqueName}
	case "git.pullrequest.created":
		r.fill(&e, Pull, Opened)
	case "git.pullrequest.updated", "git.pullrequest.merged":
		r.fill(&e, Pull, azureAction(r.Status))
	case "ms.vss-code.git-pullrequest-comment-event":
		if r.Comment != nil && r.PullRequest != nil && r.Comment.Kind != "system" {
			r.PullRequest.fill(&e, Comment, Created)
			e.CommentID, e.Text = number(r.Comment.ID), r.Comment.Content
			e.Sender = User{r.Comment.Author.ID, r.Comment.Author.UniqueName}
		}
	}
	return e, nil
}

func azureAction(status string) Action {
	switch status {
	case "completed":
		return Merged
	case "abandoned":
		return Closed
	}
	return Updated
}

func (p azurePull) fill(e *Event, kind Kind, action Action) {
	e.Kind, e.Action, e.Number, e.Title, e.Draft = kind, action, p.ID, p.Title, p.Draft
	e.Head, e.Fork = p.LastSource.CommitID, p.ForkSource != nil
	e.HeadBranch, e.BaseBranch = strings.TrimPrefix(p.Source, "refs/heads/"), strings.TrimPrefix(p.Target, "refs/heads/")
	e.Author = User{p.CreatedBy.ID, p.CreatedBy.UniqueName}
}

// parsePlain reads what a script sends: {"branch": "main", "commit": "…"}, or nothing.
func parsePlain(body []byte) (e Event, err error) {
	var b struct {
		Branch string `json:"branch"`
		Commit string `json:"commit"`
	}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &b); err != nil {
			return e, ErrUnreadable
		}
	}
	e.Kind = Push
	if b.Branch != "" {
		e.pushed("refs/heads/"+b.Branch, b.Commit)
	}
	return e, nil
}
