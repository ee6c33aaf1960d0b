package runs

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// Store keeps runs, their events, logs and files. Every implementation passes
// runstest.RunStore.
//
// All methods are safe for concurrent use, by several processes too where the database is
// shared. What returned without an error is durable, and every call that begins afterwards sees
// it. Errors about the store itself are faults of code StoreUnavailable or StoreFull.
type Store interface {
	// Create stores a new run with its events, in a transaction that also asks allow, unless it is
	// nil, with what the organization has then; its error refuses the run. A run that was created
	// with this key by this organization before is returned instead, as it is now, and nobody is
	// asked; the empty key is nobody's. A run whose Order says Alone is refused with RunInProgress, in the same
	// transaction, where another run of its workspace has not ended: see Run.InTheWay.
	Create(ctx context.Context, run Run, key string, events []Event, allow func(Tally) error) (made Run, err error)

	// Run returns a run, or fault.RunNotFound.
	Run(ctx context.Context, ref Ref) (Run, error)

	// Update runs decide on the run and stores what it returns with its events and one more
	// Revision, in one transaction: no other Update of the run comes between, and none of
	// another run of the workspace that mutates. An error of decide is returned as it is, and
	// nothing is recorded. A run that would hold the slot (Run.Holds) while another one of its
	// workspace does fails with a *BlockedError. Of two updates that race, the second one's
	// decide sees what the first has stored.
	Update(ctx context.Context, ref Ref, decide Decide) (Run, error)

	// Claimable returns the runs that may be claimed now, best first: of the pool, of these
	// organizations (nil for all), whose Status is Claimable and NotBefore has come. Of the
	// pending runs of a workspace that mutate, only the first by priority and ID counts, and
	// only while the slot is free. Lower priorities go first; among equal ones, the organization
	// whose last claim from the pool is the longest ago; then the smallest ID. What it costs
	// doesn't grow with the number of runs that ended, nor with those that wait behind others
	// of their workspace.
	Claimable(ctx context.Context, q ClaimQuery) ([]Ref, error)

	// Position returns how many runs that mutate wait before this one in its workspace, and who
	// holds the slot; empty for nobody.
	Position(ctx context.Context, run Run) (ahead int, holder string, err error)

	// Lines returns who has the slots of these workspaces of an organization, and which runs wait for
	// them, of one moment. Workspaces where nobody has it, or waits for it, are left out.
	Lines(ctx context.Context, org uuid.UUID, workspaces []string) (map[string]Line, error)

	// Due returns runs whose Due time has come, the longest ago first, from behind after.
	Due(ctx context.Context, now time.Time, after Mark, limit int) ([]Mark, error)

	// Open returns the runs of a workspace that have not ended, oldest first.
	Open(ctx context.Context, org uuid.UUID, workspace string) ([]Run, error)

	// Leased returns the runs of these organizations that an executor has, by its ID, or that any
	// executor has, for the empty one: those it is at work on, and those in whose apply it was lost.
	Leased(ctx context.Context, orgs []uuid.UUID, agent string) ([]Run, error)

	// List returns an organization's runs, the newest first.
	List(ctx context.Context, q Query) (Page, error)

	// Events returns a run's, in order, from behind the sequence.
	Events(ctx context.Context, ref Ref, after int64, limit int) ([]Event, error)

	Changes
	// Tally returns what an organization has.
	Tally(ctx context.Context, org uuid.UUID) (Tally, error)

	Logs
	Files
	Agents

	// Ended returns runs that ended before the time, oldest first, from behind after, for a sweep.
	Ended(ctx context.Context, before time.Time, after Mark, limit int) ([]Mark, error)
	// Oldest returns the runs of an organization that have ended, those first that are missed the
	// least: those that nobody has executed, then the others, each the oldest first.
	Oldest(ctx context.Context, org uuid.UUID, limit int) ([]Ref, error)
	// Remove removes an ended run with everything that belongs to it. One that isn't there is
	// fine.
	Remove(ctx context.Context, ref Ref) error
	// Strip removes the files and logs of an ended run, of these kinds and streams.
	Strip(ctx context.Context, ref Ref, kinds []FileKind, streams []Stream) error

	Ready(ctx context.Context) error
	Close() error
}

// Tally is what an organization has of runs.
type Tally struct {
	Waiting int   // pending
	Working int   // leased
	Stored  int   // in all
	Bytes   int64 // that are kept in logs and files
}

// Changes is what follows an organization's runs, and counts how they ended. What each call costs
// grows with what it returns, not with the runs that there are.
type Changes interface {
	// Changes returns the runs that have changed since the change of this number, each once, with
	// the number of its last change and as it is now, in the order of the numbers. They are
	// gapless: what changes later gets a number above all that were shown. Counted are each Create,
	// and each Update with events, or to another Status or Phase. Runs that were removed, and those
	// that have not changed since numbers are kept, have none.
	Changes(ctx context.Context, org uuid.UUID, after int64, limit int) ([]ChangedRun, error)
	// LastChange is the number of an organization's last change; 0 for none.
	LastChange(ctx context.Context, org uuid.UUID) (int64, error)
	// Outcomes counts an organization's runs that have ended, and are still there, by the day and
	// the status of their end: of the days, in UTC, from that of one time to that of another. Days
	// and statuses without any are left out.
	Outcomes(ctx context.Context, org uuid.UUID, from, to time.Time) ([]Outcome, error)
	// Troubled returns the workspaces of an organization that are in a trouble since then, each once,
	// those whose run is the newest first.
	Troubled(ctx context.Context, org uuid.UUID, trouble Trouble, since time.Time) ([]Troubled, error)
}

// Trouble is what a workspace is in by how its runs have ended that are still there.
type Trouble string

// The troubles. Runs are newer than others by their IDs.
const (
	TroubleFailed Trouble = "failed" // one has failed, and none that is newer has succeeded
	// The newest of those that looked for drift to the end has found some, no newer one has applied or taken over all that
	// there is, and where the workspace is a layer, its report has it too.
	TroubleDrift Trouble = "drift"
)

// Troubled is a workspace in trouble, with the newest run that says so.
type Troubled struct {
	Workspace string
	Run       string
	At        time.Time // when it ended
}

// Line is who has a workspace's slot, and who waits for it.
type Line struct {
	Holder  string   // empty for nobody
	Waiting []string // in the order in which they get it
}

// ChangedRun is a run with the number of its last change.
type ChangedRun struct {
	Number int64
	Run    Run
}

// Outcome is how many runs ended so on a day.
type Outcome struct {
	Day    time.Time // its begin, in UTC
	Status Status
	Runs   int
}

// Mark is a place in the order of runs by a time of theirs. The zero Mark is before all.
type Mark struct {
	At time.Time
	Ref
}

// ClaimQuery selects what an executor may claim.
type ClaimQuery struct {
	Pool  string
	Orgs  []uuid.UUID // nil for all
	Now   time.Time
	Limit int
}

// Query selects an organization's runs. Zero fields select everything.
type Query struct {
	Org       uuid.UUID
	Workspace string
	Status    []Status
	Kind      Kind
	Before    string // continue below this ID; empty begins with the newest
	Limit     int    // above zero
}

// Page is a part of a list of runs.
type Page struct {
	Runs []Run
	Next string // continues the list, as Query.Before; empty at its end
}

// Stream is one of a run's logs: one for each stage.
type Stream string

// LogRef addresses a log: bytes are numbered from 0 within each.
type LogRef struct {
	Ref
	Stream  Stream
	Attempt int
}

// Logs keeps logs, in pieces that are sealed by whoever calls.
type Logs interface {
	// AppendLog puts pieces at the end of a log, in a transaction that also asks allow, with the
	// run as it is then; its error refuses the pieces. They follow each other, go beyond the end,
	// and take the place of all that is there from the first one's offset on, which is where the
	// log ends or where a piece of it begins. When the log doesn't end at end any more, nothing is
	// stored. It returns where the log ends afterwards. Pieces that don't fit are LogMismatch.
	AppendLog(ctx context.Context, log LogRef, end int64, pieces []LogPiece, allow func(Run) error) (after int64,
		err error)
	// LogEnd returns where a log ends; 0 for one that isn't there.
	LogEnd(ctx context.Context, log LogRef) (int64, error)
	// ReadLog returns the pieces from the one that has the offset on, of about limit bytes in
	// all, at least one where there is one. They are of one moment: none is of after an AppendLog
	// that the others are of before.
	ReadLog(ctx context.Context, log LogRef, offset int64, limit int64) ([]LogPiece, error)
	// LogsOf returns the logs that a run has, with where they end.
	LogsOf(ctx context.Context, ref Ref) ([]LogInfo, error)
}

// LogInfo is a log that is there.
type LogInfo struct {
	LogRef
	End int64
}

// LogPiece is a part of a log.
type LogPiece struct {
	Offset int64
	Size   int64 // of the plain bytes
	Sealed []byte
}

// FileKind is what a file of a run is.
type FileKind string

// The kinds of files.
const (
	FilePlan         FileKind = "plan"
	FilePlanJSON     FileKind = "plan_json"
	FileLock         FileKind = "lock_file"
	FilePlanFiles    FileKind = "plan_files" // an archive of what planning made
	FileJSONLog      FileKind = "json_log"
	FileErroredState FileKind = "errored_state"
	FileOutputs      FileKind = "outputs"
	FileResults      FileKind = "results" // what other programs have found while it was planned
	FileChanges      FileKind = "changes" // the server's own reading of the plan
)

// FileKinds returns those that an executor may bring.
func FileKinds() []FileKind {
	return []FileKind{FilePlan, FilePlanJSON, FileLock, FilePlanFiles, FileJSONLog, FileErroredState, FileOutputs,
		FileResults}
}

// Masked reports whether what is kept of such a file has its secrets masked, so that its digest is of what came.
func (k FileKind) Masked() bool { return k == FileJSONLog || k == FileResults || k == FileOutputs }

// FileRef addresses a file of a run.
type FileRef struct {
	Ref
	Kind    FileKind
	Attempt int
}

// File describes one.
type File struct {
	FileRef
	Size   int64
	Digest string // SHA-256 of the plain bytes, hexadecimal
	Pieces int
}

// Files keeps a run's files in pieces of at most a MiB, which are sealed by whoever calls.
type Files interface {
	// PutPiece keeps a piece of a file that is not complete yet, of one upload of it; one with the
	// same number is replaced. The piece 0 begins an upload, and ends the one before: its pieces
	// are removed, and what still comes of it is refused as UploadReplaced. So the pieces of a file
	// are of one upload, however many go on at once. A file that is complete stays as it is.
	PutPiece(ctx context.Context, file FileRef, upload string, index int, sealed []byte) error
	// CompleteFile makes the file visible, with the pieces of an upload, in a transaction that also
	// asks allow, with the run as it is then. A file that is there already stays as it is, and is
	// returned. Faults: UploadReplaced; RunInvalid where pieces are missing.
	CompleteFile(ctx context.Context, file File, upload string, allow func(Run) error) (File, error)
	// FileOf returns a complete file, or fault.RunFileNotFound.
	FileOf(ctx context.Context, file FileRef) (File, error)
	// FilesOf returns a run's complete files.
	FilesOf(ctx context.Context, ref Ref) ([]File, error)
	// Piece returns a piece of a complete file.
	Piece(ctx context.Context, file FileRef, index int) ([]byte, error)
}

// Pool is a group of agents with a token of their own, or one that another organization lends.
type Pool struct {
	Org        uuid.UUID
	Name       string
	Workspaces []string // patterns of those it serves; none for all
	TokenHash  []byte   // SHA-256; of a lent one, of nothing that anybody knows
	CreatedAt  time.Time
	// Lender is the organization whose pool of this name it is; uuid.Nil for one's own.
	Lender uuid.UUID
	// Grants are the organizations that the pool may work for, once they accept it.
	Grants []PoolGrant
	// Former are those that it was lent to last and is no more: its agents may have runs of theirs.
	Former []uuid.UUID
}

// PoolGrant lends a pool to another organization.
type PoolGrant struct {
	Org        uuid.UUID
	Workspaces []string // patterns of that organization's; none for all
	At         time.Time
}

// Agent is a process that executes runs.
type Agent struct {
	Org                            uuid.UUID
	ID, Pool                       string
	Name, Version, System, Sandbox string
	BootID                         string
	SecretHash                     []byte // SHA-256
	Draining                       bool
	CreatedAt, Seen                time.Time
}

// Agents keeps pools and their agents.
type Agents interface {
	// UpdatePool runs decide on the organization's pools, sorted by name, and stores the pool of this
	// organization that it returns in the place of the one of that name, if there is one, all in one
	// transaction: no other UpdatePool of the organization comes between. An error of decide is
	// returned as it is, and nothing is changed. Decide may be called more than once.
	UpdatePool(ctx context.Context, org uuid.UUID, decide func(have []Pool) (Pool, error)) (Pool, error)
	// Pools returns an organization's.
	Pools(ctx context.Context, org uuid.UUID) ([]Pool, error)
	// PoolsNamed returns those of this name that these organizations have.
	PoolsNamed(ctx context.Context, name string, orgs []uuid.UUID) ([]Pool, error)
	// EndGrants takes an organization, of which nothing is to be left, out of the Grants and the
	// Former of at most limit pools that others have, and returns of how many. When that is 0, it
	// stands in none of them. It may be called again at any time.
	EndGrants(ctx context.Context, to uuid.UUID, limit int) (pools int, err error)
	// PoolByToken finds a pool of any organization by its token's hash, or fault.CredentialsWrong.
	PoolByToken(ctx context.Context, hash []byte) (Pool, error)
	// RemovePool removes a pool and its agents; absent is fine.
	RemovePool(ctx context.Context, org uuid.UUID, name string) error
	// PutAgent keeps an agent, new or changed.
	PutAgent(ctx context.Context, agent Agent) error
	// AgentByID returns one of any organization, or fault.AgentNotFound.
	AgentByID(ctx context.Context, id string) (Agent, error)
	// AgentsOf returns an organization's.
	AgentsOf(ctx context.Context, org uuid.UUID) ([]Agent, error)
	// RemoveAgents removes those that were last seen before the time and have no run.
	RemoveAgents(ctx context.Context, before time.Time) error
}

// BlockedError says that another run of the workspace goes on.
type BlockedError struct{ By string }

func (e *BlockedError) Error() string { return "run " + e.By + " of this workspace goes on" }
