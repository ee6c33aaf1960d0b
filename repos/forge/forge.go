package forge

import (
	"context"
	"net/url"
	"time"
)

// Forge is a repository at a server of pull requests. All methods are safe for concurrent use. Their
// errors are *Error.
type Forge interface {
	// PullRequest returns one as it is now.
	PullRequest(ctx context.Context, number int64) (PullRequest, error)
	// OpenPullRequests returns those that are open, the newest first, as far as the forge lists them.
	OpenPullRequests(ctx context.Context) ([]PullRequest, error)
	// ChangedFiles returns the paths that a pull request changes, and those that it moves files away
	// from. all is false where the forge does not list all of them.
	ChangedFiles(ctx context.Context, number int64) (paths []string, all bool, err error)
	// SetStatus says how a commit does. To set the same again changes nothing.
	SetStatus(ctx context.Context, commit string, s Status) error

	// Comments returns what people and programs wrote below a pull request since then, the oldest
	// first. Some forges return earlier ones too.
	Comments(ctx context.Context, number int64, since time.Time) ([]Comment, error)
	// CreateComment writes one more.
	CreateComment(ctx context.Context, number int64, body string) (Comment, error)
	// UpdateComment replaces a comment's text.
	UpdateComment(ctx context.Context, number int64, id, body string) error
	// RemoveComment removes a comment. One that is gone is fine.
	RemoveComment(ctx context.Context, number int64, id string) error

	// Permission returns what somebody may do with the repository.
	Permission(ctx context.Context, who User) (Permission, error)
	// Self is whose credentials these are; the zero User where the forge does not say.
	Self(ctx context.Context) (User, error)

	// Limits is what the forge takes.
	Limits() Limits
}

// PullRequest is what is known of a pull request.
type PullRequest struct {
	Number int64
	Title  string
	Link   string
	Author User
	State  State
	Draft  bool
	// Head is the commit that is to be merged, whole, and HeadRef its branch.
	Head, HeadRef string
	// Base is the commit that the forge compares with, where it says so, and BaseRef the branch that
	// it is to be merged into.
	Base, BaseRef string
	// Fork says that the head is in another repository, or that nobody can say in which.
	Fork bool
	// Source is the path of that repository, where the forge gives the head out there only.
	Source string
	// Merge is the commit that the merge made.
	Merge string
}

// State says whether a pull request goes on.
type State string

// The states of pull requests.
const (
	Open   State = "open"
	Merged State = "merged"
	Closed State = "closed" // without a merge
)

// User is somebody at a forge.
type User struct{ ID, Login string }

// Is reports whether two are the same. The ID counts: logins can be given to others.
func (u User) Is(other User) bool { return u.ID != "" && u.ID == other.ID }

// Comment is one below a pull request.
type Comment struct {
	ID      string
	Author  User
	Body    string
	Created time.Time
	Edited  bool // so that somebody else may have written what it says now
}

// Permission is what somebody may do with a repository. More includes less.
type Permission int

// The permissions.
const (
	None Permission = iota
	Read
	Write // may push to branches
	Admin // may change the repository's settings
)

// String is the permission's name.
func (p Permission) String() string { return [...]string{"none", "read", "write", "admin"}[p] }

// Status is what is said of a commit.
type Status struct {
	Context     string // names what says it: a commit has one status for each
	State       StatusState
	Description string // in a line
	Link        string
}

// StatusState is how a commit does.
type StatusState string

// The states of commits.
const (
	Pending StatusState = "pending"
	Success StatusState = "success"
	Failure StatusState = "failure"
)

// Limits is what a forge takes of texts.
type Limits struct {
	Comment     int  // UTF-16 units of a comment, which no forge counts more of than it takes
	Description int  // runes of a status's description
	Context     int  // runes of a status's context
	Folds       bool // whether <details> folds a part of a comment
	HTMLHidden  bool // whether a comment of HTML is hidden
}

// webLink is an address that a forge gives people; empty where it is none of https, which others' pages might follow.
func webLink(text string) string {
	at, err := url.Parse(text)
	if err != nil || at.Scheme != "https" || at.Host == "" || at.User != nil {
		return ""
	}
	return text
}
