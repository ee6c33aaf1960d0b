package statetest

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/killtest"
	"github.com/holdfast/holdfast/state"
)

// childDir is in the environment of the child.
const childDir = "HOLDFAST_STATETEST_DIR"

// event is a line of what the child tells its parent: that it sets out to make a call, or
// how the call ended. A call without an end was under way when the child died.
type event struct {
	Phase  killtest.Phase
	Call   int64 // ties the end to the beginning
	Kind   string
	State  int          // in tortured()
	Lock   string       // ID of the lock that is taken, released, or written with
	Digest state.Digest // of the body that is written
	Number uint64       // the version that was acknowledged
	Reason string       // of a failure
}

// The calls of the child.
const (
	callLock   = "lock"
	callUnlock = "unlock"
	callPut    = "put"
	callFinal  = "final" // a put that also releases the lock
)

// Outcome implements killtest.Told.
func (e event) Outcome() (bool, error) {
	if e.Phase == killtest.Failed {
		return false, fmt.Errorf("%s of state %d: %s", e.Kind, e.State, e.Reason)
	}
	return e.Phase == killtest.Acked, nil
}

func (e event) writes() bool { return e.Kind == callPut || e.Kind == callFinal }

func (e event) releases() bool { return e.Kind == callUnlock || e.Kind == callFinal }

// tortured returns the states that the child works on, the same in every process.
func tortured() []state.Ref {
	var refs []state.Ref
	for _, org := range []uuid.UUID{{1}, {2}} {
		for _, name := range []state.Name{"app", "db", "net/prod"} {
			refs = append(refs, state.Ref{Org: org, Name: name})
		}
	}
	return refs
}
