package forge

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// gitLab is a project at GitLab. Its merge requests are pull requests, and its notes comments.
type gitLab struct {
	*client
	repo string // /projects/GROUP%2FNAME
}

type labUser struct {
	ID       int64  `json:"id"`
	Username string `json:"username"`
}

func (u labUser) user() User { return hubUser{u.ID, u.Username}.user() }

type labMerge struct {
	IID             int64   `json:"iid"`
	Title           string  `json:"title"`
	WebURL          string  `json:"web_url"`
	State           string  `json:"state"` // opened, closed, locked, merged
	Draft           bool    `json:"draft"`
	Author          labUser `json:"author"`
	SHA             string  `json:"sha"`
	SourceBranch    string  `json:"source_branch"`
	TargetBranch    string  `json:"target_branch"`
	SourceProjectID int64   `json:"source_project_id"`
	TargetProjectID int64   `json:"target_project_id"`
	MergeCommitSHA  string  `json:"merge_commit_sha"`
	SquashCommitSHA string  `json:"squash_commit_sha"`
	DiffRefs        struct {
		BaseSHA string `json:"base_sha"`
	} `json:"diff_refs"`
}

func (m labMerge) pullRequest(c *client) (PullRequest, error) {
	if m.IID <= 0 || !isCommit(m.SHA) {
		return PullRequest{}, c.unlike("a merge request has no number or no commit")
	}
	found := PullRequest{
		Number: m.IID, Title: m.Title, Link: webLink(m.WebURL), Author: m.Author.user(), State: Closed,
		Draft: m.Draft, Head: m.SHA, HeadRef: m.SourceBranch, Base: m.DiffRefs.BaseSHA, BaseRef: m.TargetBranch,
		Fork: m.SourceProjectID == 0 || m.SourceProjectID != m.TargetProjectID,
	}
	switch m.State {
	case "opened", "locked": // locked is while it merges
		found.State = Open
	case "merged":
		found.State, found.Merge = Merged, m.SHA // by a fast-forward
		for _, made := range []string{m.MergeCommitSHA, m.SquashCommitSHA} {
			if made != "" {
				found.Merge = made
				break
			}
		}
	}
	return found, nil
}

// PullRequest implements Forge.
func (g *gitLab) PullRequest(ctx context.Context, number int64) (PullRequest, error) {
	var m labMerge
	if _, err := g.get(ctx, g.repo+"/merge_requests/"+id(number), nil, &m); err != nil {
		return PullRequest{}, err
	}
	return m.pullRequest(g.client)
}

// OpenPullRequests implements Forge.
func (g *gitLab) OpenPullRequests(ctx context.Context) (all []PullRequest, err error) {
	query := url.Values{"state": {"opened"}, "order_by": {"created_at"}, "sort": {"desc"}, "per_page": {"100"}}
	_, err = pages(ctx, g.client, g.repo+"/merge_requests", query, numbered[[]labMerge](g.client), func(page []labMerge) {
		for _, m := range page {
			if one, err := m.pullRequest(g.client); err == nil { // one that is being made has no commit yet
				all = append(all, one)
			}
		}
	})
	return all, err
}

// numbered follows the header Link, or X-Next-Page where a proxy has taken that away.
func numbered[T any](c *client) next[T] {
	return func(h http.Header, page T) (string, error) {
		if following, err := linked(h, page); following != "" || err != nil {
			return following, err
		}
		if h.Get("X-Next-Page") != "" {
			return "", c.unlike("a list has more pages, but no link to them")
		}
		return "", nil
	}
}

// ChangedFiles implements Forge.
func (g *gitLab) ChangedFiles(ctx context.Context, number int64) (paths []string, all bool, err error) {
	type diff struct {
		OldPath string `json:"old_path"`
		NewPath string `json:"new_path"`
	}
	more, err := pages(ctx, g.client, g.repo+"/merge_requests/"+id(number)+"/diffs", url.Values{"per_page": {"100"}},
		numbered[[]diff](g.client), func(page []diff) {
			for _, d := range page {
				paths = append(paths, d.NewPath)
				if d.OldPath != d.NewPath && d.OldPath != "" {
					paths = append(paths, d.OldPath)
				}
			}
		})
	return paths, !more, err
}

// SetStatus implements Forge.
func (g *gitLab) SetStatus(ctx context.Context, commit string, s Status) error {
	s = s.within(g.Limits())
	state := map[StatusState]string{Pending: "running", Success: "success", Failure: "failed"}[s.State]
	err := g.send(ctx, http.MethodPost, g.repo+"/statuses/"+url.PathEscape(commit), struct {
		State       string `json:"state"`
		Name        string `json:"name"`
		TargetURL   string `json:"target_url,omitempty"`
		Description string `json:"description"`
	}{state, s.Context, s.Link, s.Description}, nil)
	if e, ok := err.(*Error); ok && e.Status == http.StatusBadRequest &&
		strings.Contains(e.Message, "Cannot transition status") {
		return nil // it is in this state already
	}
	return err
}

type labNote struct {
	ID        int64     `json:"id"`
	Body      string    `json:"body"`
	Author    labUser   `json:"author"`
	System    bool      `json:"system"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

func (n labNote) comment() Comment {
	return Comment{ID: id(n.ID), Author: n.Author.user(), Body: n.Body, Created: n.CreatedAt,
		Edited: edited(n.CreatedAt, n.UpdatedAt)}
}

func (g *gitLab) notes(number int64) string {
	return g.repo + "/merge_requests/" + id(number) + "/notes"
}

// Comments implements Forge. GitLab has no list of what is new: the newest come first, until they are old.
func (g *gitLab) Comments(ctx context.Context, number int64, since time.Time) (all []Comment, err error) {
	query := url.Values{"sort": {"desc"}, "order_by": {"updated_at"}, "per_page": {"100"}}
	_, err = pages(ctx, g.client, g.notes(number), query, func(h http.Header, page []labNote) (string, error) {
		if len(page) > 0 && page[len(page)-1].UpdatedAt.Before(since) {
			return "", nil
		}
		return numbered[[]labNote](g.client)(h, page)
	}, func(page []labNote) {
		for _, n := range page {
			if !n.System {
				all = append(all, n.comment())
			}
		}
	})
	slices.SortStableFunc(all, func(a, b Comment) int { return a.Created.Compare(b.Created) })
	return all, err
}

// CreateComment implements Forge.
func (g *gitLab) CreateComment(ctx context.Context, number int64, body string) (Comment, error) {
	var made labNote
	err := g.send(ctx, http.MethodPost, g.notes(number), hubText{body}, &made)
	return made.comment(), err
}

// UpdateComment implements Forge.
func (g *gitLab) UpdateComment(ctx context.Context, number int64, comment, body string) error {
	return g.send(ctx, http.MethodPut, g.notes(number)+"/"+url.PathEscape(comment), hubText{body}, nil)
}

// RemoveComment implements Forge.
func (g *gitLab) RemoveComment(ctx context.Context, number int64, comment string) error {
	return gone(g.send(ctx, http.MethodDelete, g.notes(number)+"/"+url.PathEscape(comment), nil, nil))
}

// Permission implements Forge. Members of the groups above are members too.
func (g *gitLab) Permission(ctx context.Context, who User) (Permission, error) {
	if who.ID == "" {
		return None, nil
	}
	var member struct {
		ID          int64  `json:"id"`
		AccessLevel int    `json:"access_level"`
		State       string `json:"state"`
	}
	_, err := g.get(ctx, g.repo+"/members/all/"+url.PathEscape(who.ID), nil, &member)
	if Is(err, Missing) {
		return None, nil
	}
	if err != nil || id(member.ID) != who.ID || member.State != "" && member.State != "active" {
		return None, err
	}
	switch {
	case member.AccessLevel >= 40: // maintainers and owners
		return Admin, nil
	case member.AccessLevel >= 30: // developers
		return Write, nil
	case member.AccessLevel >= 10: // guests, reporters
		return Read, nil
	}
	return None, nil
}

// Self implements Forge.
func (g *gitLab) Self(ctx context.Context) (User, error) {
	var u labUser
	_, err := g.get(ctx, "/user", nil, &u)
	if Is(err, Forbidden) || Is(err, Missing) {
		return User{}, nil
	}
	return u.user(), err
}

// Limits implements Forge.
func (g *gitLab) Limits() Limits {
	return Limits{Comment: 1_000_000, Description: 255, Context: 255, Folds: true, HTMLHidden: true}
}
