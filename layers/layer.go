package layers

import (
	"cmp"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
)

// Ref addresses a layer, which has the name of its workspace and its state.
type Ref struct {
	Org  uuid.UUID
	Name string
}

// Layer is all that is known of one. Its JSON, without the Ref and the Revision, is how stores keep it.
type Layer struct {
	Ref      `json:"-"`
	Revision int64 `json:"-"` // grows with each change; the store's
	Settings Settings
	Facts    Facts
	// Conditions, State and Says are those of the last look at the layer.
	Conditions Set
	State      State
	Says       string // what is done about it, or why nothing is
	// Run is the one that was begun and whose end is not known yet; nil for none.
	Run *Begun `json:",omitempty"`
	// Last is the one before it, which has ended; nil for none.
	Last *Begun `json:",omitempty"`
	// Sequence counts the runs that were begun: the key of each has its number.
	Sequence int64
	// Brought is the configuration that was brought last: it need not be brought again.
	Brought Brought
	// Commits are the last that were looked at, the newest first, with what they mean to the layer.
	Commits []CommitVerdict `json:",omitempty"`
	// Drifted is what the last check has found, with what is expected and ignored.
	Drifted  []Resource    `json:",omitempty"`
	Expected []Expectation `json:",omitempty"`
	// Checks are the last that found something else than the one before, the newest first.
	Checks []CheckPoint `json:",omitempty"`
	// Notices are what people are to be told and were not yet.
	Notices []Notice `json:",omitempty"`
	// Due is when the layer is to be looked at again though nobody asks; zero for never.
	Due       time.Time
	CreatedAt time.Time
	UpdatedAt time.Time // of the settings
	UpdatedBy Actor
}

// Begun is a run that a layer has decided on. It is recorded before the run is made: whoever finds it makes the run of
// this key, which is made once.
type Begun struct {
	Key        string
	Want       Want
	Commit     string
	Why        string
	At         time.Time
	Known      string // the digest of the drift that is known
	Relevant   string `json:",omitempty"` // the newest commit then that changes the layer
	MaxChanges int    `json:",omitempty"`
	Whole      bool   `json:",omitempty"` // the check is a whole plan
	// ID is the run's, when it is made; Snapshot the configuration it has.
	ID       string `json:",omitempty"`
	Snapshot string `json:",omitempty"`
	// Standing is where the run is.
	Standing RunStanding `json:",omitzero"`
}

// RunStanding is where a layer's run is, as far as its conditions need it.
type RunStanding struct {
	Executed bool `json:",omitempty"` // somebody has begun to execute it
	Active   bool `json:",omitempty"` // an executor is at work
	Planned  bool `json:",omitempty"` // it has its plan, and waits for a person, or to be applied
	// Tries are those before that the server has repeated by itself; the next one begins at RetryAt at the earliest.
	Tries   int       `json:",omitempty"`
	RetryAt time.Time `json:",omitzero"`
	End     End       `json:",omitempty"` // empty while it goes on
	// Nobody is why nobody will execute it, and what to do; empty where somebody may.
	Nobody string `json:",omitempty"`
}

// RunConditions returns the run that goes on, or the last one, with what holds of it; nil for none.
func (l Layer) RunConditions(now time.Time) (*Begun, Set) {
	b := cmp.Or(l.Run, l.Last)
	if b == nil {
		return nil, nil
	}
	terms := Terms{Retries: l.Settings.Retries}
	return b, RunConditions(l.Facts.RunFacts(b.Standing, terms), now).Since(nil, b.At)
}

// Brought is a commit whose configuration is a snapshot of the workspace.
type Brought struct {
	Commit   string `json:",omitempty"`
	Path     string `json:",omitempty"` // of the layer, then
	Snapshot string `json:",omitempty"`
}

// CommitVerdict is what a commit means to a layer.
type CommitVerdict struct {
	Commit
	Subject  string `json:",omitempty"`
	Relevant bool
	Why      string
}

// CheckPoint is what a check has found, in numbers.
type CheckPoint struct {
	At                       time.Time
	Run                      string
	Drifted, Expected, Fresh int
	Healed                   int
}

// Notice is something that people are told.
type Notice struct {
	Healed bool `json:",omitempty"`
	Run    string
	Text   string
}

// Actor is who did something.
type Actor struct {
	KeyID   string `json:"key_id"`
	KeyName string `json:"key_name,omitempty"`
	Subject string `json:"subject,omitempty"`
}

// ActorOf returns who a principal is.
func ActorOf(p auth.Principal) Actor { return Actor{p.KeyID, p.KeyName, p.Subject} }

// What is kept of a layer at most.
const (
	mostCommits  = 20
	mostDrifted  = 200
	mostExpected = 100
	mostChecks   = 50
	mostNotices  = 10
)

// keep cuts what has grown beyond what is kept.
func (l *Layer) keep() {
	l.Commits = l.Commits[:min(len(l.Commits), mostCommits)]
	l.Checks = l.Checks[:min(len(l.Checks), mostChecks)]
	l.Notices = l.Notices[max(0, len(l.Notices)-mostNotices):]
}

// judge says anew what holds of the layer, and returns what is to be done.
func (l *Layer) judge(now time.Time) Action {
	terms := Terms{Due: l.Facts.due(l.Settings.Drift, l.Name), Retries: l.Settings.Retries}
	l.Conditions = Conditions(l.Facts, terms, now).Since(l.Conditions, now)
	l.State = StateOf(l.Conditions)
	if l.Facts.Gone && !l.Conditions.Is(IsSyncScheduled) {
		l.State = Gone
	}
	action := Decide(l.Settings, l.Facts, l.Conditions, l.Name, now)
	if l.Says = action.Why; l.Facts.Trouble != "" {
		l.Says += "; the repository can't be fetched, so that there may be newer commits: " + l.Facts.Trouble
	}
	return action
}

// keyOf is the key of a layer's n-th run. One that is made anew under a name has others.
func keyOf(ref Ref, n int64, created time.Time) string {
	id := uuid.NewSHA1(ref.Org, []byte("layer/"+ref.Name+"/"+strconv.FormatInt(created.UnixMicro(), 10)))
	return "layer " + id.String() + " " + strconv.FormatInt(n, 10)
}
