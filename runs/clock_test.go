package runs_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/fault"
)

const longAfter = 400 * 24 * time.Hour

// A clock that jumps in the middle of an apply, beyond all times of a run and its token, takes the
// token from nobody who has the run. What came of it is good no longer than it was to be.
func TestTokenOutlivesAClockThatJumps(t *testing.T) {
	w, caller, run, _ := approved(t)
	e := w.Claim(t, caller.Org)
	e.Renew("apply")
	w.Jump(longAfter)
	for _, token := range []string{e.Token, e.StateToken} {
		p, err := w.VerifyRun(t.Context(), token)
		if err != nil || !p.Expires.IsZero() {
			t.Fatalf("behind the jump its token is good until %v, %v", p.Expires, err)
		}
	}
	e.Renew("apply")
	e.Apply(`{}`)
	if got, err := w.Get(t.Context(), caller, run.ID); err != nil || got.Status != "succeeded" {
		t.Errorf("the run is %s, %v", got.Status, err)
	}
	w.Jump(longAfter)
	if _, err := w.VerifyRun(t.Context(), e.StateToken); !fault.Is(err, fault.KeyExpired) {
		t.Errorf("the token of a run that ended long ago: %v", err)
	}
}

// A run's own tokens are masked as its secrets are, by a server that was started anew as well.
func TestTokensOfARunAreMasked(t *testing.T) {
	l := newLogged(t)
	for _, restarts := range []bool{false, true} {
		if restarts {
			l.Restart()
		}
		encoded := base64.StdEncoding.EncodeToString([]byte(l.StateToken))
		l.Log("Authorization: Bearer " + l.Token + ", " + encoded + "\n")
	}
	if got := l.shown(1 << 20); strings.Contains(got, l.Token[:20]) ||
		strings.Contains(got, base64.StdEncoding.EncodeToString([]byte(l.StateToken))) ||
		strings.Count(got, "Bearer *") != 2 {
		t.Errorf("it shows %s", got)
	}
}
