package handlers_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/internal/gittest"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/repos"
	"github.com/holdfast/holdfast/repos/hook"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/memory"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlrepos"
)

// hooked is a repository behind the real routes, whose service fetches when the test says so.
type hooked struct {
	*repos.Service
	t       *testing.T
	git     *gittest.Server
	route   http.Handler
	caller  auth.Principal
	made    repos.Repository
	secret  []byte
	seconds atomic.Int64 // that have passed
}

func newHooked(t *testing.T, limits repos.Limits) *hooked {
	t.Helper()
	h := &hooked{t: t, git: gittest.New(t), caller: auth.Principal{Org: acme, KeyID: "k",
		Grant: auth.Grant{Role: auth.Owner}}}
	db, err := sqldb.Open(t.Context(), sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	log := memory.New(1 << 20)
	t.Cleanup(func() { _ = log.Close() })
	now := func() time.Time { return layersNow().Add(time.Duration(h.seconds.Load()) * time.Second) }
	h.Service = repos.NewService(repos.Deps{Store: sqlrepos.New(db), Gate: audit.NewGate(log, now),
		Seals: seal.New(seal.NewMaster(), sqldb.NewKeys(db)), Folder: t.TempDir(), Limits: limits,
		Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, CAFile: h.git.CAFile, Now: now,
		Random: func() float64 { return 0.5 }, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(h.Close)
	deps := testDeps(t)
	deps.Repositories = h.Service
	if h.route, err = handlers.NewRouter(deps); err != nil {
		t.Fatal(err)
	}
	made, secret, err := h.Create(t.Context(), h.caller, "infra", repos.Order{Settings: func(s *repos.Settings) error {
		s.URL, s.Provider, s.Poll = h.git.URL("infra"), hook.GitHub, 24*time.Hour
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	h.made, h.secret = made, []byte(secret)
	return h
}

// send sends a delivery of GitHub's, and returns the answer's status.
func (h *hooked) send(event, body string) int {
	return h.sendFrom("192.0.2.1:1234", event, body, strings.NewReader(body))
}

// sendFrom sends a delivery, with the signature of a body, from an address.
func (h *hooked) sendFrom(address, event, body string, from io.Reader) int {
	sum := hmac.New(sha256.New, h.secret)
	sum.Write([]byte(body))
	r := httptest.NewRequest(http.MethodPost, "/webhooks/github/"+h.made.ID.String(), from)
	r.RemoteAddr = address
	for name, value := range map[string]string{"Content-Type": "application/json", "X-GitHub-Event": event,
		"X-GitHub-Delivery": uuid.NewString(), "X-Hub-Signature-256": "sha256=" + hex.EncodeToString(sum.Sum(nil))} {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.route.ServeHTTP(w, r)
	return w.Code
}

// TestBurstOfDeliveries: thousands of deliveries, each another push, from several senders at once, become a handful of
// fetches, the last of which has the last push.
func TestBurstOfDeliveries(t *testing.T) {
	t.Parallel()
	t.Run("2000", func(t *testing.T) { burstOfDeliveries(t, 2000) })
	t.Run("10000", func(t *testing.T) {
		suite.Deep(t)
		if suite.UnderRace {
			t.Skip("make deep runs it without the detector")
		}
		burstOfDeliveries(t, 10_000)
	})
}

func burstOfDeliveries(t *testing.T, deliveries int) {
	t.Helper()
	const senders, each = 8, 100 // of each sender a second
	h := newHooked(t, repos.Limits{})
	git := h.git.Repo(t, "infra")
	git.Commit("Begin")
	before, last := h.git.Fetches(), ""
	var all sync.WaitGroup
	for sender := range senders {
		all.Go(func() {
			for i := range deliveries / senders {
				body := fmt.Sprintf(`{"ref":"refs/heads/main","after":"%040x","sender":{"id":%d,"login":"bob"}}`, i, sender)
				if status := h.send("push", body); status != http.StatusAccepted {
					t.Errorf("a delivery was answered %d", status)
					return
				}
				if i == deliveries/senders-2*each && sender == 0 {
					last = git.Commit("Last")
				}
				if i%each == 0 && sender == 0 {
					h.seconds.Add(1)
					h.Poll(t.Context())
				}
			}
		})
	}
	all.Wait()
	for deadline := time.Now().Add(3 * time.Minute); h.head() != last; time.Sleep(5 * time.Millisecond) {
		if h.seconds.Add(10); time.Now().After(deadline) {
			t.Fatalf("the head is %s, not %s", h.head(), last)
		}
		h.Poll(t.Context())
	}
	if n := h.git.Fetches() - before; n < 1 || n > 12 {
		t.Errorf("%d deliveries became %d fetches", deliveries, n)
	}
}

// head is the newest commit that is known of the branch.
func (h *hooked) head() string {
	h.t.Helper()
	got, err := h.Get(h.t.Context(), h.caller, "infra")
	if err != nil {
		h.t.Fatal(err)
	}
	return got.Status.Heads["main"]
}

// TestDeliveriesAreBounded: of deliveries that are taken once, no more than so many are remembered of a repository; the
// next ones are refused, and taken again when the old ones are forgotten.
func TestDeliveriesAreBounded(t *testing.T) {
	t.Parallel()
	h := newHooked(t, repos.Limits{Deliveries: 40})
	h.OnEvent(func(context.Context, repos.Event) error { return nil })
	comment := func(n int) int {
		return h.send("issue_comment", fmt.Sprintf(`{"action":"created","issue":{"number":7,"user":{"id":1,"login":"bob"},`+
			`"pull_request":{}},"comment":{"id":%d,"body":"hello","user":{"id":1,"login":"bob"},"created_at":%q}}`, n,
			h.Now().Format(time.RFC3339)))
	}
	taken := 0
	for n := range 100 {
		switch status := comment(n); {
		case status == http.StatusAccepted:
			taken++
		case status/100 != 4:
			t.Fatalf("a delivery too many was answered %d", status)
		}
	}
	if taken != 20 { // each is remembered by its ID and by its body
		t.Errorf("%d deliveries were taken", taken)
	}
	h.seconds.Add(49 * 3600)
	if err := h.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status := comment(100); status != http.StatusAccepted {
		t.Errorf("when the old ones are forgotten, a delivery is answered %d", status)
	}
}
