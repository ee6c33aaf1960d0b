package agent

import (
	"context"
	"io"

	"github.com/holdfast/holdfast/api"
)

// Hold is what an executor says in each call about a run that it has.
type Hold struct {
	Run     string
	Token   string
	Stage   string // also the name of the stage's log
	Attempt int
	Epoch   int64
}

// Identity is who an executor is to the server.
type Identity struct {
	ID     string `json:"id"`
	Secret string `json:"secret"`
}

// Server is where an executor has its work from. client's calls are one over HTTP, through
// package remote; the server's own executor has one in process. Every implementation passes
// agenttest.RunServer.
//
// Every call may be sent twice, also after it was answered, and is then answered alike. A
// refusal is a fault. EpochOld says that the run is not the caller's any more: its lease ended,
// and somebody else has decided since; it answers every call about the run, and nothing that
// comes with it is accepted. Any other error may be gone the next time.
type Server interface {
	// Register presents an executor with its pool's token, and returns its ID and secret. It is
	// the one call that makes something new each time.
	Register(ctx context.Context, token string, r api.AgentRegistration) (api.Agent, error)

	// Claim asks for a stage of a run; nil says that there is none. The same key gives the same
	// stage again, whole, with a token that is good, for as long as it is the caller's: until it
	// was reported as ended or was given to somebody else. That includes an apply whose lease
	// ended, and about which nobody has decided since. A claim that says it drains gets nothing
	// else than what its key has got before.
	Claim(ctx context.Context, as Identity, claim api.AgentClaim) (*api.Assignment, error)

	// Lease renews the lease of a run, and says what is wanted of its executor. A renewal that waits
	// renews at once; it is answered when more is wanted than it knows of, when the run is not its
	// executor's any more, or after so many seconds. It may be answered earlier.
	Lease(ctx context.Context, hold Hold, r api.LeaseRenewal) (api.Lease, error)

	// AppendLog writes bytes of the stage's log at an offset, and returns where the log ends
	// then. What the log has already must be the same, else LogMismatch, and the offset of the first
	// other byte comes beside it; behind it the rest is appended. LogGap says that the log ends
	// before the offset; the end comes beside it. Either stores nothing. LogTooLarge says that no
	// more of it is. No bytes at offset 0 ask where the log ends. A try of a stage writes from its
	// assignment's LogFrom on: what is before that is of earlier tries.
	AppendLog(ctx context.Context, hold Hold, offset int64, piece []byte) (end int64, err error)

	// PutArtefact keeps a file that the stage made. The same one again is fine; another one of
	// its kind and attempt is FileMismatch, as one that doesn't match its own description is.
	PutArtefact(ctx context.Context, hold Hold, described api.Artefact, content io.ReadSeeker) error

	// OpenArtefact opens a file that a stage of the run made, or fails with RunFileNotFound. The
	// caller closes it.
	OpenArtefact(ctx context.Context, hold Hold, kind string, attempt int) (io.ReadCloser, error)

	// OpenConfiguration opens the run's configuration, an archive in tar format. The caller
	// closes it.
	OpenConfiguration(ctx context.Context, hold Hold) (io.ReadCloser, error)

	// Report says how a phase ended, and learns whether to go on. A report that was accepted is
	// known by its stage, attempt and phase, and answered as it was. With the last one the stage
	// ends, and the lease with it.
	Report(ctx context.Context, hold Hold, r api.PhaseReport) (api.PhaseAnswer, error)
}
