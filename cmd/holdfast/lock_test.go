package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/state"
)

// hold takes a lock as a client would.
func (s *shell) hold(name, id, who string) {
	s.t.Helper()
	var out, errs strings.Builder
	c, err := s.app(&out, &errs).client(clientFlags{})
	if err != nil {
		s.t.Fatal(err)
	}
	info := api.LockInfo{ID: id, Who: who, Operation: "OperationTypeApply", Created: "2026-01-02T03:04:05Z"}
	if err := c.Lock(s.t.Context(), name, info); err != nil {
		s.t.Fatal(err)
	}
}

func TestLocksAreListedAndReleased(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	s.hold("prod/network", "id-1", "alice@laptop")
	s.hold("app", "id-2", "bob@ci")
	has(t, s.must("lock", "list", "--wide"), "STATE HOLDER OPERATION HELD FOR LAST SEEN KEY ID",
		"app bob@ci OperationTypeApply ", "prod/network alice@laptop OperationTypeApply ")
	if out := s.must("lock", "list", "--json"); strings.Count(out, "\n") != 2 || !strings.Contains(out, `"Who":"bob@ci"`) {
		t.Errorf("printed %s", out)
	}
	s.refuse(exitUsage, "say why, with --reason", "lock", "release", "app", "--yes")
	s.refuse(exitUsage, "confirm with --yes", "lock", "release", "app", "--reason", "gone")
	s.refuse(exitFailed, "the lock is held by \"bob@ci\"", "lock", "release", "app", "--id", "id-1", "--reason", "gone",
		"--yes")
	s.interactive, s.stdin = true, "gone\nyes\n"
	_, out, errs := s.run("lock", "release", "app")
	if out != "Released the lock id-2 of app, which bob@ci held.\n" ||
		!strings.Contains(errs, "bob@ci holds the lock id-2 for OperationTypeApply since 2026-01-02T03:04:05Z of app. "+
			"Release it? Type yes: ") {
		t.Errorf("printed %s%s", out, errs)
	}
	if out := s.must("lock", "release", "app"); out != "Nobody holds the lock of app.\n" {
		t.Errorf("printed %s", out)
	}
	if out := s.must("lock", "list", "--wide"); strings.Contains(out, "bob@ci") || !strings.Contains(out, "alice@laptop") {
		t.Errorf("printed\n%s", out)
	}
	has(t, s.must("audit", "list", "--action", "lock.force", "--wide"), `TIME lock.force app bob@ci, "gone"`)
	if out := s.must("audit", "list", "--action", "lock.force", "--json"); !strings.Contains(out, `"lock_id":"id-2"`) ||
		!strings.Contains(out, `"role":"owner"`) || !strings.Contains(out, `"request_id":"`) {
		t.Errorf("printed %s", out)
	}
}

// What was shown is what is released, not a lock that somebody takes meanwhile.
func TestReleaseNamesTheLock(t *testing.T) {
	s := newShell(t)
	server := s.keeping(state.DefaultPolicy())
	s.hold("app", "id-1", "alice@laptop")
	server.Config.Handler = &intercepted{next: server.Config.Handler,
		answer: func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPost {
				return false
			}
			if body, err := io.ReadAll(r.Body); err != nil || string(body) != `{"reason":"gone","lock_id":"id-1"}` {
				t.Errorf("sent %s, %v", body, err)
			}
			_, _ = io.WriteString(w, "{}")
			return true
		}}
	s.must("lock", "release", "app", "--reason", "gone", "--yes")
}
