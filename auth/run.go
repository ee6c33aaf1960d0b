package auth

import (
	"strings"

	"github.com/holdfast/holdfast/fault"
)

// RunStage is the part of a run that somebody calls for.
type RunStage string

// The stages of a run.
const (
	RunPlan  RunStage = "plan"  // reads one version of one state, and writes nothing
	RunApply RunStage = "apply" // reads, locks and writes one state
)

// RunGrant is what a run's token is good for: one state, in one stage, and the outputs of those that its workspace
// reads. Whether a run may still write there is decided by the state's fence, in the transaction of the write.
type RunGrant struct {
	ID    string // of the run
	Epoch int64  // of the executor that the token was made for; grows with each new one
	Stage RunStage
	State string // the only state that the run may touch, but for outputs of Reads
	// Version is what a plan reads, however many newer ones there are; 0 pins it to there
	// being no state.
	Version uint64
	// Reads are the other states whose outputs the run's tool may read; nil for none.
	Reads *Patterns
	// Removes is how many resources an apply may take out of the state without being kept back: as many as the
	// plan that was approved does. Resources is how many there were at Version; below zero where nobody knows.
	Removes, Resources int
	// Tool says that the caller is the run's tool, or what its configuration executes: it may
	// use the state, and say nothing about the run itself.
	Tool bool
}

// runKeyPrefix begins the KeyID of a run, and of nothing else: no key's fingerprint has a
// dot, and rules for tokens and certificates begin with "oidc." and "cert.".
const runKeyPrefix = "run."

// RunKeyID returns the KeyID of a run's principal.
func RunKeyID(run string) string { return runKeyPrefix + run }

// RunOfKeyID returns the run that a KeyID stands for; empty for a key, token or certificate.
func RunOfKeyID(id string) string {
	run, ok := strings.CutPrefix(id, runKeyPrefix)
	if !ok {
		return ""
	}
	return run
}

// RunTokenPrefix begins every token of a run, so that secret scanners find one that leaked.
const RunTokenPrefix = "hfr_"

// IsRunToken reports whether what came in the place of a key is the token of a run by its
// form. It says nothing about whether it is good.
func IsRunToken(key string) bool { return strings.HasPrefix(key, RunTokenPrefix) }

// Rights returns what the run may do with its state.
func (g *RunGrant) Rights() []Right {
	switch g.Stage {
	case RunPlan:
		return []Right{ReadPinned}
	case RunApply:
		return []Right{ReadState, WriteState, LockState}
	}
	return nil
}

// Pinned reports whether the caller may read one version only.
func (p Principal) Pinned() bool { return p.Run != nil && p.Run.Stage == RunPlan }

// Rights returns what the caller may do: all that its role has, or all that its run has on
// the run's state.
func (p Principal) Rights() []Right {
	if p.Run != nil {
		return p.Run.Rights()
	}
	return p.Role.Rights()
}

// reads reports whether the run's tool may read the outputs of another state.
func (g *RunGrant) reads(state string) bool { return g.Tool && g.Reads != nil && g.Reads.Match(state) }

// mayOn is Principal.MayOn of a run. The role of its principal says nothing.
func (g *RunGrant) mayOn(right Right, state string) error {
	if state != g.State {
		if right == ReadOutputs && g.reads(state) {
			return nil
		}
		and := " only"
		if g.Reads != nil {
			and = ", and for outputs of " + g.Reads.String()
		}
		return fault.New(fault.RightMissing, "run %s may not do that: its token is for the state %q%s", g.ID, g.State, and)
	}
	for _, has := range g.Rights() {
		if has == right {
			return nil
		}
	}
	if g.Stage == RunPlan {
		return fault.New(fault.RunReadOnly,
			"run %s may not do that: while it plans, its token reads the version that the plan is pinned to and has no other "+
				"right, so not %s; use the client with -lock=false", g.ID, right)
	}
	return fault.New(fault.RightMissing, "run %s may not do that: it lacks the right %s", g.ID, right)
}
