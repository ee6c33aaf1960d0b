package handlers_test

import (
	"bufio"
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/live"
	"github.com/holdfast/holdfast/middleware"
)

// forLess has a key be good for less from some time on.
type forLess struct {
	takenBack
	to auth.Grant
}

func (k forLess) VerifyAgain(_ context.Context, _ auth.Credentials, before auth.Principal,
	_ uint64) (auth.Principal, error) {
	if k.gone.Load() {
		before.Grant = k.to
	}
	return before, nil
}

// An idle stream ends with its reader's key, long before a heartbeat is due.
func TestIdleStreamEndsWithItsKey(t *testing.T) {
	t.Parallel()
	deps := testDeps(t)
	gone := &atomic.Bool{}
	deps.Verifier = takenBack{runKeys{keys: testKeys()}, gone}
	stream := newCaller(t, startServer(t, deps), acme, acmeKey).open("/api/v1/events")
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	for lines.Scan() && lines.Text() != "" { // that it is ready
	}
	gone.Store(true)
	late := time.AfterFunc(10*time.Second, func() {
		t.Error("the stream goes on")
		_ = stream.Body.Close()
	})
	defer late.Stop()
	for lines.Scan() {
		t.Errorf("told %q", lines.Text())
	}
}

// TestEventsAreNotToldToWhoseKeyIsTakenBack: who follows the organization is told nothing of what comes some seconds
// after the key was taken back, nor of states that it is good for no more.
func TestEventsAreNotToldToWhoseKeyIsTakenBack(t *testing.T) {
	t.Parallel()
	patterns, err := auth.ParsePatterns("mine/*")
	if err != nil {
		t.Fatal(err)
	}
	for name, verifier := range map[string]func(takenBack) middleware.Verifier{
		"taken back": func(k takenBack) middleware.Verifier { return k },
		"for less": func(k takenBack) middleware.Verifier {
			return forLess{k, auth.Grant{Role: auth.Reader, States: patterns}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deps, store, _ := testDepsWithoutResources(t)
			deps.Live = live.NewHub(live.Deps{Log: store, Poll: 10 * time.Millisecond})
			writer := newCaller(t, startServer(t, deps), acme, acmeKey)
			gone := &atomic.Bool{}
			deps.Verifier = verifier(takenBack{runKeys{keys: testKeys()}, gone})
			stream := newCaller(t, startServer(t, deps), acme, acmeKey).open("/api/v1/events")
			defer stream.Body.Close()
			lines := bufio.NewScanner(stream.Body)
			for lines.Scan() && lines.Text() != "" { // that it is ready
			}
			gone.Store(true)
			time.Sleep(2500 * time.Millisecond)
			writer.converse([]step{{"POST /api/v1/state/secret/x", body(1), 200, ""},
				{"POST /api/v1/state/mine/x", body(1), 200, ""}})
			for lines.Scan() && !strings.Contains(lines.Text(), "mine/x") {
				if strings.Contains(lines.Text(), "secret/x") {
					t.Fatalf("told %s", lines.Text())
				}
			}
			if told := strings.Contains(lines.Text(), "mine/x"); told != (name == "for less") {
				t.Errorf("told of its own state: %v", told)
			}
		})
	}
}
