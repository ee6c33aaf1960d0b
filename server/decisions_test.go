package server

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/internal/runworld"
	"github.com/holdfast/holdfast/internal/webhook"
	"github.com/holdfast/holdfast/runs"
)

// decidedBy has a plan of an organization looked at whose auth file says so of decisions.
func decidedBy(t *testing.T, settings ...string) (*runworld.World, runs.Run) {
	t.Helper()
	org := uuid.New()
	path := filepath.Join(t.TempDir(), "auth.cfg")
	text := fmt.Sprintf("[%s]\n%s\n", org, strings.Join(settings, "\n"))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	watcher, err := authfile.Watch(t.Context(), authfile.WatchConfig{Path: path, Use: func(*keyring.Keyring) {},
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = watcher.Close() })
	w := runworld.New(t)
	w.Deciders = deciders{watcher, webhook.NewAsker([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, nil)}
	w.Terms.AutoApply = "always"
	author := auth.Principal{Org: org, KeyID: "author", Grant: auth.Grant{Role: auth.Owner}}
	run, err := w.Create(t.Context(), author, api.RunOrder{Workspace: "prod", Kind: "apply"}, "")
	if err != nil {
		t.Fatal(err)
	}
	w.Claim(t, org).Plan(1)
	return w, run
}

// Where a service hangs up without a word, however often it is asked, plans are not applied, unless the auth file says
// so: then they wait for nobody but people.
func TestServiceThatNeverAnswers(t *testing.T) {
	for fail, want := range map[string]runs.Status{"": runs.Discarded, "decision_fail = closed": runs.Discarded,
		"decision_fail = open": runs.AwaitingApproval} {
		var asked atomic.Int64
		there := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			asked.Add(1)
			panic(http.ErrAbortHandler)
		}))
		w, run := decidedBy(t, "decision_url = "+there.URL+"/a-word-of-the-address", fail)
		run = w.Settle(t, run, 10*time.Minute)
		there.Close()
		if run.Status != want || run.Outside == nil || run.Outside.State != runs.OutsideFailed || asked.Load() < 6 {
			t.Errorf("with %q it is %s (%s) after %d questions: %+v", fail, run.Status, run.Reason, asked.Load(), run.Outside)
		}
		if strings.Contains(run.Reason+run.Outside.Reason, "a-word-of-the-address") {
			t.Errorf("the address is told: %s, %s", run.Reason, run.Outside.Reason)
		}
		by := auth.Principal{Org: run.Org, KeyID: "author", Grant: auth.Grant{Role: auth.Owner}}
		after, err := w.Approve(t.Context(), by, run.ID, api.Decision{Digest: run.Pin.Digest})
		if goesOn := err == nil && after.Status == runs.Confirmed; goesOn != (want == runs.AwaitingApproval) {
			t.Errorf("with %q somebody's yes has it be %s, %v", fail, after.Status, err)
		}
	}
}

// One that is in a private network, which nobody has allowed, is not asked: plans are not applied.
func TestServiceInAPrivateNetwork(t *testing.T) {
	var asked atomic.Int64
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = io.WriteString(w, `{"decision":"APPROVED"}`)
	}))
	defer there.Close()
	w, run := decidedBy(t, "decision_url = "+there.URL)
	w.Deciders = deciders{w.Deciders.(deciders).watcher, webhook.NewAsker(nil, nil)}
	if run = w.Settle(t, run, 10*time.Minute); run.Status != runs.Discarded || asked.Load() > 0 {
		t.Errorf("it is %s (%s), asked %d times", run.Status, run.Reason, asked.Load())
	}
}
