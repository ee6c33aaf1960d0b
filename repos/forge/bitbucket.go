package forge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// bitbucket is a repository at Bitbucket Cloud.
type bitbucket struct {
	*client
	workspace, slug string // escaped
}

func (b *bitbucket) repo() string { return "/repositories/" + b.workspace + "/" + b.slug }

func (b *bitbucket) pull(number int64) string { return b.repo() + "/pullrequests/" + id(number) }

type bucketUser struct {
	UUID     string `json:"uuid"`
	Nickname string `json:"nickname"`
}

func (u bucketUser) user() User { return User{ID: u.UUID, Login: u.Nickname} }

type bucketSide struct {
	Branch struct {
		Name string `json:"name"`
	} `json:"branch"`
	Commit *struct {
		Hash string `json:"hash"` // cut
	} `json:"commit"`
	Repository *struct {
		UUID     string `json:"uuid"`
		FullName string `json:"full_name"`
	} `json:"repository"`
}

func (s bucketSide) hash() string {
	if s.Commit == nil {
		return ""
	}
	return s.Commit.Hash
}

type bucketPull struct {
	ID          int64      `json:"id"`
	Title       string     `json:"title"`
	State       string     `json:"state"` // OPEN, MERGED, DECLINED, SUPERSEDED
	Draft       bool       `json:"draft"`
	Author      bucketUser `json:"author"`
	Source      bucketSide `json:"source"`
	Destination bucketSide `json:"destination"`
	MergeCommit *struct {
		Hash string `json:"hash"`
	} `json:"merge_commit"`
	Links struct {
		HTML struct {
			Href string `json:"href"`
		} `json:"html"`
	} `json:"links"`
}

// bucketPage is a page of any list.
type bucketPage[T any] struct {
	Values []T    `json:"values"`
	Next   string `json:"next"`
}

func following[T any](_ http.Header, page bucketPage[T]) (string, error) { return page.Next, nil }

// PullRequest implements Forge.
func (b *bitbucket) PullRequest(ctx context.Context, number int64) (PullRequest, error) {
	var p bucketPull
	if _, err := b.get(ctx, b.pull(number), nil, &p); err != nil {
		return PullRequest{}, err
	}
	return b.pullRequest(ctx, p)
}

// OpenPullRequests implements Forge.
func (b *bitbucket) OpenPullRequests(ctx context.Context) ([]PullRequest, error) {
	var found []bucketPull
	query := url.Values{"state": {"OPEN"}, "sort": {"-created_on"}, "pagelen": {"50"}}
	_, err := pages(ctx, b.client, b.repo()+"/pullrequests", query, following[bucketPull],
		func(page bucketPage[bucketPull]) { found = append(found, page.Values...) })
	if err != nil {
		return nil, err
	}
	var all []PullRequest
	for _, p := range found {
		one, err := b.pullRequest(ctx, p)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// pullRequest is one with whole names of commits: Bitbucket cuts them there.
func (b *bitbucket) pullRequest(ctx context.Context, p bucketPull) (PullRequest, error) {
	source := p.fork()
	head, err := b.whole(ctx, b.repo(), p.Source.hash())
	if source != "" && (Is(err, Missing) || Is(err, Forbidden)) {
		head, err = b.whole(ctx, "/repositories/"+source, p.Source.hash())
	}
	if err != nil {
		return PullRequest{}, err
	}
	if p.ID <= 0 {
		return PullRequest{}, b.unlike("a pull request has no number")
	}
	found := PullRequest{
		Number: p.ID, Title: p.Title, Link: webLink(p.Links.HTML.Href), Author: p.Author.user(), State: Closed,
		Draft: p.Draft, Head: head, HeadRef: p.Source.Branch.Name, Base: p.Destination.hash(),
		BaseRef: p.Destination.Branch.Name,
		Fork: p.Source.Repository == nil || p.Destination.Repository == nil ||
			p.Source.Repository.UUID != p.Destination.Repository.UUID,
		Source: source,
	}
	switch {
	case p.State == "OPEN":
		found.State = Open
	case p.State == "MERGED":
		found.State = Merged
		if p.MergeCommit != nil {
			if found.Merge, err = b.whole(ctx, b.repo(), p.MergeCommit.Hash); err != nil {
				return PullRequest{}, err
			}
		}
	}
	return found, nil
}

// fork is the path of the repository that the head is in, if that is another one and Bitbucket says which.
func (p bucketPull) fork() string {
	from, to := p.Source.Repository, p.Destination.Repository
	if from == nil || to != nil && from.UUID == to.UUID || !isPath(from.FullName, false) {
		return ""
	}
	return from.FullName
}

// whole is the whole name of a commit of a repository.
func (b *bitbucket) whole(ctx context.Context, repository, hash string) (string, error) {
	if isCommit(hash) {
		return hash, nil
	}
	var commit struct {
		Hash string `json:"hash"`
	}
	if len(hash) < 7 || strings.Trim(hash, "0123456789abcdef") != "" {
		return "", b.unlike("a pull request has no commit")
	}
	if _, err := b.get(ctx, repository+"/commit/"+hash, nil, &commit); err != nil {
		return "", err
	}
	if !isCommit(commit.Hash) || !strings.HasPrefix(commit.Hash, hash) {
		return "", b.unlike("a commit has no whole name")
	}
	return commit.Hash, nil
}

// ChangedFiles implements Forge.
func (b *bitbucket) ChangedFiles(ctx context.Context, number int64) (paths []string, all bool, err error) {
	type side struct {
		Path string `json:"path"`
	}
	type stat struct {
		Old *side `json:"old"`
		New *side `json:"new"`
	}
	more, err := pages(ctx, b.client, b.pull(number)+"/diffstat", url.Values{"pagelen": {"100"}}, following[stat],
		func(page bucketPage[stat]) {
			for _, s := range page.Values {
				if s.New != nil {
					paths = append(paths, s.New.Path)
				}
				if s.Old != nil && (s.New == nil || s.Old.Path != s.New.Path) {
					paths = append(paths, s.Old.Path)
				}
			}
		})
	return paths, !more, err
}

// SetStatus implements Forge.
func (b *bitbucket) SetStatus(ctx context.Context, commit string, s Status) error {
	s = s.within(b.Limits())
	state := map[StatusState]string{Pending: "INPROGRESS", Success: "SUCCESSFUL", Failure: "FAILED"}[s.State]
	return b.send(ctx, http.MethodPost, b.repo()+"/commit/"+url.PathEscape(commit)+"/statuses/build", struct {
		Key         string `json:"key"`
		State       string `json:"state"`
		Name        string `json:"name"`
		URL         string `json:"url"`
		Description string `json:"description"`
	}{statusKey(s.Context), state, s.Context, s.Link, s.Description}, nil)
}

// maxKey is how long the key of a status may be.
const maxKey = 40

// statusKey names a status within what a key may be.
func statusKey(context string) string {
	if len(context) <= maxKey {
		return context
	}
	sum := sha256.Sum256([]byte(context))
	return hex.EncodeToString(sum[:maxKey/2])
}

type bucketText struct {
	Raw string `json:"raw"`
}

type bucketComment struct {
	ID        int64      `json:"id"`
	Content   bucketText `json:"content"`
	User      bucketUser `json:"user"`
	Deleted   bool       `json:"deleted"`
	CreatedOn time.Time  `json:"created_on"`
	UpdatedOn time.Time  `json:"updated_on"`
}

func (c bucketComment) comment() Comment {
	return Comment{ID: id(c.ID), Author: c.User.user(), Body: c.Content.Raw, Created: c.CreatedOn,
		Edited: edited(c.CreatedOn, c.UpdatedOn)}
}

// Comments implements Forge.
func (b *bitbucket) Comments(ctx context.Context, number int64, since time.Time) (all []Comment, err error) {
	query := url.Values{"pagelen": {"100"}, "sort": {"created_on"}}
	if !since.IsZero() {
		query.Set("q", "updated_on >= "+since.UTC().Format("2006-01-02T15:04:05.000000-07:00"))
	}
	_, err = pages(ctx, b.client, b.pull(number)+"/comments", query, following[bucketComment],
		func(page bucketPage[bucketComment]) {
			for _, c := range page.Values {
				if !c.Deleted {
					all = append(all, c.comment())
				}
			}
		})
	return all, err
}

// bucketBody is a comment as it is sent.
type bucketBody struct {
	Content bucketText `json:"content"`
}

// CreateComment implements Forge.
func (b *bitbucket) CreateComment(ctx context.Context, number int64, body string) (Comment, error) {
	var made bucketComment
	err := b.send(ctx, http.MethodPost, b.pull(number)+"/comments", bucketBody{bucketText{body}}, &made)
	return made.comment(), err
}

// UpdateComment implements Forge.
func (b *bitbucket) UpdateComment(ctx context.Context, number int64, comment, body string) error {
	return b.send(ctx, http.MethodPut, b.pull(number)+"/comments/"+url.PathEscape(comment),
		bucketBody{bucketText{body}}, nil)
}

// RemoveComment implements Forge.
func (b *bitbucket) RemoveComment(ctx context.Context, number int64, comment string) error {
	return gone(b.send(ctx, http.MethodDelete, b.pull(number)+"/comments/"+url.PathEscape(comment), nil, nil))
}

// Permission implements Forge. What comes from groups is in it.
func (b *bitbucket) Permission(ctx context.Context, who User) (Permission, error) {
	if who.ID == "" || strings.ContainsAny(who.ID, `"\`) {
		return None, nil
	}
	type granted struct {
		Permission string     `json:"permission"`
		User       bucketUser `json:"user"`
	}
	most := None
	_, err := pages(ctx, b.client, "/workspaces/"+b.workspace+"/permissions/repositories/"+b.slug,
		url.Values{"q": {`user.uuid="` + who.ID + `"`}}, following[granted], func(page bucketPage[granted]) {
			for _, g := range page.Values {
				if g.User.user().Is(who) {
					most = max(most, map[string]Permission{"read": Read, "write": Write, "admin": Admin}[g.Permission])
				}
			}
		})
	if Is(err, Missing) {
		return None, nil
	}
	return most, err
}

// Self implements Forge. Tokens of a repository are nobody's.
func (b *bitbucket) Self(ctx context.Context) (User, error) {
	var u bucketUser
	_, err := b.get(ctx, "/user", nil, &u)
	if Is(err, Forbidden) || Is(err, Missing) || Is(err, Credentials) {
		return User{}, nil
	}
	return u.user(), err
}

// Limits implements Forge. HTML is shown as text there.
func (b *bitbucket) Limits() Limits { return Limits{Comment: 32768, Description: 255, Context: 255} }
