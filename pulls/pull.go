package pulls

import (
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/repos/forge"
)

// Ref addresses a pull request: by its organization, the name of the repository there, and its number
// at the forge.
type Ref struct {
	Org        uuid.UUID
	Repository string
	Number     int64
}

// Pull is what is known of a pull request. Its JSON is how stores keep it.
type Pull struct {
	Ref      `json:"-"`
	Revision int64 `json:"-"` // grows with each change; the store's

	// Key is what the comment's marker is made of. It is stored before there is a comment.
	Key     string
	Comment string `json:",omitempty"` // its ID, as far as it is remembered
	Said    string `json:",omitempty"` // digest of what the comment says

	At    forge.PullRequest // as it was seen last
	Plans []Plan            `json:",omitempty"`
	// Looked is the head whose affected layers are in Plans; Every says that the forge does not tell all
	// the files, so that each layer may be affected.
	Looked string `json:",omitempty"`
	// Known is the digest of the layers that were there then: with others it is looked at anew.
	Known string `json:",omitempty"`
	Every bool   `json:",omitempty"`
	// Compared are the head, the commit of the base and the layers that the plans' Behind is of.
	Compared string `json:",omitempty"`
	// Lacks is how many commits of the base the head lacks, and Onto the newest of them, where a merge with it is what is
	// planned. Apart is the first path in which they don't merge by themselves, or why.
	Lacks int    `json:",omitempty"`
	Onto  string `json:",omitempty"`
	Apart string `json:",omitempty"`
	// Left is how many layers more are affected, and not planned because they are too many.
	Left int `json:",omitempty"`

	Allowed *Allowed `json:",omitempty"`
	// Obeyed are the comments that were looked at for commands, and Since where the next ones begin.
	Obeyed []string  `json:",omitempty"`
	Since  time.Time `json:",omitzero"`
	// Answers are what became of commands, the newest last.
	Answers []Answer `json:",omitempty"`

	// Waits is why nothing of the head is planned; empty where it is, or is soon.
	Waits string `json:",omitempty"`
	// Trouble is why the last look did not get to its end; empty if it did.
	Trouble  string `json:",omitempty"`
	Failures int    `json:",omitempty"` // looks in a row that did not
	Closed   bool   `json:",omitempty"` // everything is said and done
	SeenAt   time.Time
}

// Allowed is that somebody with the right has looked at a fork's commit, and lets it be planned.
type Allowed struct {
	Commit  string
	By      forge.User
	Comment string
	At      time.Time
}

// Plan is that of one layer.
type Plan struct {
	Layer  string
	Commit string
	Of     string `json:",omitempty"` // where the layer was in the repository then, and what triggers it
	// Onto is the commit of the base that the head is merged with in what is planned; empty for the head alone.
	Onto string `json:",omitempty"`
	// Behind is what the base has changed of the layer since Onto, or since the head left it; empty for nothing. The plan
	// would undo it.
	Behind   string `json:",omitempty"`
	Snapshot string `json:",omitempty"`
	Run      string `json:",omitempty"` // empty while it is not begun
	Round    int    `json:",omitempty"` // how often it was asked for again, by a command
	Status   Status
	Reason   string         `json:",omitempty"`
	Counts   *api.RunCounts `json:",omitempty"`
	Changes  string         `json:",omitempty"` // digest of them
	Base     string         `json:",omitempty"` // digest of the state that was planned on
	Digest   string         `json:",omitempty"` // of the pin
	Apply    *Apply         `json:",omitempty"`
	// Told is what the forge was told last of the commit.
	Told string `json:",omitempty"`
}

// Apply is that of a plan, by a command.
type Apply struct {
	By      forge.User
	Comment string
	Run     string `json:",omitempty"`
	Status  Status
	Reason  string `json:",omitempty"`
}

// Status is how a plan, or an apply, does.
type Status string

// The statuses.
const (
	Waiting  Status = "waiting"  // to begin: for permission, or for its turn
	Running  Status = "running"  // it goes on
	Done     Status = "done"     // it has ended well
	Failed   Status = "failed"   // it has not
	Stale    Status = "stale"    // the pull request has moved on since
	Undone   Status = "undone"   // the plan that is to be applied is not what was planned before
	Deciding Status = "deciding" // people have to decide
)

// Ended reports whether nothing follows by itself.
func (s Status) Ended() bool { return s == Done || s == Failed || s == Stale || s == Undone }

// Answer is what became of a command.
type Answer struct {
	Comment string
	By      string // login
	Command string
	Text    string
	At      time.Time
}

// Settings are what a repository wants of pull requests. The zero value leaves them alone.
type Settings struct {
	// Plan is what somebody must be able to do at the forge to have a fork planned, or a plan made again:
	// write or admin. Empty leaves pull requests alone.
	Plan string `json:"plan,omitempty"`
	// Apply is the same for `holdfast apply`; empty for never.
	Apply string `json:"apply,omitempty"`
	// Branch is the one that pull requests are to be merged into; others are left alone. Empty for any.
	Branch string `json:"branch,omitempty"`
	// HeadAlone plans the head as it is, and not what a merge into its base would give.
	HeadAlone bool `json:"head_alone,omitempty"`
}

// Off reports whether pull requests are left alone.
func (s Settings) Off() bool { return s.Plan == "" }

// need is the permission that a setting names.
func need(text string, usual forge.Permission) forge.Permission {
	switch text {
	case "write":
		return forge.Write
	case "admin":
		return forge.Admin
	}
	return usual
}

// planNeeds is the least permission of who may have something planned.
func (s Settings) planNeeds() forge.Permission { return need(s.Plan, forge.Write) }
