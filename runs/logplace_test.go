package runs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
)

// tryAgain has the run's executor find the lock held, and returns the one of the next try.
func (l *logged) tryAgain() {
	l.t.Helper()
	l.Report(api.PhaseReport{Phase: "prepare", Outcome: "failed", Class: "lock_held", Last: true})
	l.Later(l.t, time.Minute)
	attempt := l.Attempt
	if l.Executor = l.Claim(l.t, l.caller.Org); l.Attempt != attempt {
		l.t.Fatalf("the next try is of attempt %d, and the one before was of %d", l.Attempt, attempt)
	}
}

// Each try writes behind the one before, whatever that has written: a reader's offsets only grow,
// and everything is shown once.
func TestTriesOfAnAttemptFollowEachOtherInTheLog(t *testing.T) {
	l := newLogged(t)
	l.Log("the first try, and what it says\n")
	read := l.shown(100)
	l.tryAgain()
	l.Log("the second\n")
	l.Restart()
	l.tryAgain()
	l.Log("the third\n")
	if got, want := l.shown(7), "the first try, and what it says\nthe second\nthe third\n"; got != want ||
		!strings.HasPrefix(got, read) {
		t.Errorf("it shows %q, wanted %q", got, want)
	}
	if l.LogFrom != int64(len("the first try, and what it says\nthe second\n")) {
		t.Errorf("the third try's log begins at %d", l.LogFrom)
	}
}

// A try that fills the log leaves some room for each of those behind it, and none for more.
func TestTryHasRoomInALogThatIsFull(t *testing.T) {
	l := newLogged(t)
	const room = 64 << 10
	l.Limits.LogBytes, l.Terms.MaxLogBytes = 2*room, 2*room
	l.tryAgain() // from here on with these
	l.Log(strings.Repeat("x", 2*room))
	l.tryAgain()
	if l.LogFrom != 2*room || l.MaxLogBytes != room {
		t.Fatalf("the next try has %d bytes from %d on", l.MaxLogBytes, l.LogFrom)
	}
	l.Log(strings.Repeat("y", room))
	p, err := l.VerifyRun(t.Context(), l.Token)
	l.must(err)
	if _, err := l.AppendLog(t.Context(), p, l.Run, runs.Stream(l.Stage), l.Attempt, 3*room, []byte("z")); !fault.Is(err,
		fault.LogTooLarge) {
		t.Errorf("more than its room: %v", err)
	}
}

// Vulnerability: a configuration that fails with the words for a lock that is held is tried again for
// ever, and writes to the log each time, until the disk is full.
// Check: the log is at most twice as long as one may be.
func TestLogOfManyTriesIsBounded(t *testing.T) {
	l := newLogged(t)
	const most = 100 << 10
	l.Limits.LogBytes, l.Terms.MaxLogBytes = most, most
	for range 6 {
		l.tryAgain()
		if l.MaxLogBytes > 1 {
			l.Log(strings.Repeat("x", int(l.MaxLogBytes)))
		}
	}
	if l.LogFrom > 2*most || l.MaxLogBytes != 1 {
		t.Errorf("the sixth try has %d bytes from %d on", l.MaxLogBytes, l.LogFrom)
	}
}
