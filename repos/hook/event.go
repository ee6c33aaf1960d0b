package hook

import (
	"errors"
	"mime"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// Kind is what a delivery is about.
type Kind string

// The kinds. A delivery of the zero Kind is about something that nobody here needs, such as a ping.
const (
	Push    Kind = "push"
	Pull    Kind = "pull_request"
	Comment Kind = "comment" // on a pull request
)

// Action is what happened to a pull request.
type Action string

// The actions.
const (
	Opened  Action = "opened"  // or opened again
	Updated Action = "updated" // it has another head, base, title or state of being a draft
	Merged  Action = "merged"
	Closed  Action = "closed"  // without a merge
	Created Action = "created" // of a comment; later changes of one are not told
)

// User is somebody at the provider. The ID counts, where there is one: logins can be given to others.
type User struct{ ID, Login string }

// Event is what a delivery says, whoever sent it. All of it is whatever the provider, and through it strangers, wrote.
type Event struct {
	Provider Provider
	Delivery string // the provider's ID of the delivery
	Kind     Kind
	At       time.Time // when it happened, where that is said

	// Of a push.
	Branches []PushedBranch

	// Of a pull request, and of a comment on one.
	Number     int64
	Action     Action
	Head       string // the commit that is to be merged; empty where it is not said
	HeadBranch string
	BaseBranch string
	Fork       bool // the head is in another repository, or nobody says in which
	Draft      bool
	Title      string
	Author     User // of the pull request
	Sender     User // who did it

	// Of a comment.
	CommentID string
	Text      string // at most MaxText bytes
}

// PushedBranch is a branch that was pushed. Commit is empty where the branch is gone.
type PushedBranch struct{ Branch, Commit string }

// Bounds of what is kept of a delivery.
const (
	MaxText     = 16 << 10
	maxWord     = 255
	maxBranches = 100
)

// ErrUnreadable says that a body is not what the provider sends.
var ErrUnreadable = errors.New("the body is not what this provider sends")

// Parse reads a delivery that IsSigned has found good. GitHub, Gitea and Forgejo send forms too, whose field payload
// has the JSON.
func Parse(p Provider, header Header, body []byte) (Event, error) {
	var e Event
	var err error
	form := isForm(header("Content-Type"))
	switch p {
	case GitHub, Gitea, Forgejo:
		if form {
			fields, err := url.ParseQuery(string(body))
			if err != nil || !fields.Has("payload") {
				return Event{}, errors.New("the body is a form without a field payload")
			}
			body = []byte(fields.Get("payload"))
		}
	default:
		if form {
			return Event{}, errors.New("the body is a form: have the provider send application/json")
		}
	}
	switch p {
	case GitHub:
		e, err = parseHub(header("X-GitHub-Event"), body)
		e.Delivery = header("X-GitHub-Delivery")
	case Gitea:
		e, err = parseHub(header("X-Gitea-Event"), body)
		e.Delivery = header("X-Gitea-Delivery")
	case Forgejo:
		e, err = parseHub(either(header("X-Forgejo-Event"), header("X-Gitea-Event")), body)
		e.Delivery = either(header("X-Forgejo-Delivery"), header("X-Gitea-Delivery"))
	case GitLab:
		e, err = parseLab(header("X-Gitlab-Event"), body)
		e.Delivery = either(header("Idempotency-Key"), header("X-Gitlab-Event-UUID"))
	case Bitbucket:
		e, err = parseBucket(header("X-Event-Key"), body)
		e.Delivery = either(header("X-Request-UUID"), header("X-Request-Id"))
	case Azure:
		e, err = parseAzure(body)
	case Plain:
		e, err = parsePlain(body)
		e.Delivery = header("X-Holdfast-Delivery")
	default:
		return Event{}, ErrUnreadable
	}
	e.Provider = p
	return e.bounded(), err
}

// isForm reports whether a content type is that of forms.
func isForm(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "application/x-www-form-urlencoded"
}

// bounded cuts off what is longer than anybody needs it.
func (e Event) bounded() Event {
	for _, text := range []*string{&e.HeadBranch, &e.BaseBranch, &e.Title, &e.Author.ID, &e.Author.Login, &e.Sender.ID,
		&e.Sender.Login, &e.CommentID, &e.Head} {
		*text = cut(*text, maxWord)
	}
	if !isHash(e.Head) {
		e.Head = ""
	}
	e.Text = cut(e.Text, MaxText)
	if len(e.Branches) > maxBranches {
		e.Branches = e.Branches[:maxBranches]
	}
	return e
}

func cut(text string, most int) string {
	if len(text) > most {
		text = text[:most]
		for len(text) > 0 && !utf8.ValidString(text[max(0, len(text)-utf8.UTFMax):]) {
			text = text[:len(text)-1]
		}
	}
	return strings.ToValidUTF8(text, "�")
}

// isHash says whether it is a whole hash, and not that of nothing. Bitbucket Cloud cuts those of pull requests off.
func isHash(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0") != "" &&
		!strings.ContainsFunc(text, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') })
}

// pushed adds a branch by the name of its ref; tags and others are none.
func (e *Event) pushed(ref, commit string) {
	branch, ok := strings.CutPrefix(ref, "refs/heads/")
	if !ok || branch == "" || len(branch) > maxWord {
		return
	}
	if !isHash(commit) {
		commit = ""
	}
	e.Kind = Push
	e.Branches = append(e.Branches, PushedBranch{branch, commit})
}
