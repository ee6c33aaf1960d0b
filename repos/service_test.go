package repos_test

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/gittest"
	"github.com/holdfast/holdfast/repos"
	"github.com/holdfast/holdfast/repos/gitmirror"
	"github.com/holdfast/holdfast/repos/hook"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/memory"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlrepos"
	"github.com/holdfast/holdfast/storage/sqlworkspace"
)

// world is a service, and a git server that it fetches from.
type world struct {
	*repos.Service
	t      testing.TB
	git    *gittest.Server
	store  repos.Store
	outbox *sqlworkspace.Store
	caller auth.Principal

	mu sync.Mutex
	at time.Time
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

func (w *world) sleep(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(d)
}

func newWorld(t testing.TB) *world {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Options{})
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	w := &world{t: t, git: gittest.New(t), store: sqlrepos.New(db), at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		caller: principal(uuid.New(), auth.Owner), outbox: sqlworkspace.New(db, nil, time.Now)}
	w.Service = w.node(t, seal.New(seal.NewMaster(), sqldb.NewKeys(db)))
	return w
}

// node is a service of another process, on the same store.
func (w *world) node(t testing.TB, sealer *seal.Sealer) *repos.Service {
	t.Helper()
	log := memory.New(64 << 20)
	t.Cleanup(func() { _ = log.Close() })
	s := repos.NewService(repos.Deps{Store: w.store, Gate: audit.NewGate(log, w.now), Seals: sealer,
		Folder: t.TempDir(), Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, CAFile: w.git.CAFile, Now: w.now,
		Random: func() float64 { return 0.5 }, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(s.Close)
	return s
}

func principal(org uuid.UUID, role auth.Role) auth.Principal {
	return auth.Principal{Org: org, KeyID: "k", Grant: auth.Grant{Role: role}}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t testing.TB, err error, code fault.Code) {
	t.Helper()
	if !fault.Is(err, code) {
		t.Errorf("the error is %v, not %s", err, code)
	}
}

func at(url string, provider hook.Provider) repos.Order {
	return repos.Order{Settings: func(s *repos.Settings) error {
		s.URL, s.Provider = url, provider
		return nil
	}}
}

func (w *world) create(name, url string, provider hook.Provider) (repos.Repository, string) {
	w.t.Helper()
	r, secret, err := w.Create(w.t.Context(), w.caller, name, at(url, provider))
	must(w.t, err)
	return r, secret
}

// TestFetch: a repository is registered, fetched, read by its commit, and removed with its mirror.
func TestFetch(t *testing.T) {
	w := newWorld(t)
	git := w.git.Repo(t, "infra")
	git.Write("a/main.tf", "one")
	first := git.Commit("Begin")
	r, secret := w.create("infra", w.git.URL("infra"), hook.Plain)
	if len(secret) < 40 || r.Revision != 1 {
		t.Errorf("made %+v with the secret %q", r, secret)
	}
	var moved []repos.Moved
	w.OnMoved(func(_ context.Context, m repos.Moved) { moved = append(moved, m) })
	got, err := w.Fetch(t.Context(), w.caller, "infra")
	must(t, err)
	if got.Status.Heads["main"] != first || got.Status.Fetched.IsZero() || len(moved) != 1 {
		t.Errorf("the status is %+v, moved %v", got.Status, moved)
	}
	git.Write("a/main.tf", "two")
	second := git.Commit("Change")
	var packed strings.Builder
	must(t, w.Snapshot(t.Context(), w.caller.Org, "infra", second, gitmirror.Archiving{Folders: []string{"a"}}, &packed))
	_, err = w.At(t.Context(), w.caller.Org, "infra", strings.Repeat("1", 40))
	wantCode(t, err, fault.CommitNotFound)
	_, err = w.At(t.Context(), w.caller.Org, "infra", "main")
	wantCode(t, err, fault.CommitNotFound)
	must(t, w.Remove(t.Context(), w.caller, "infra"))
	must(t, w.Remove(t.Context(), w.caller, "infra"))
	_, err = w.Get(t.Context(), w.caller, "infra")
	wantCode(t, err, fault.RepositoryNotFound)
	must(t, w.Sweep(t.Context()))
}

// TestBranchIsGone: a branch that the remote has no more has no newest commit; the others keep theirs, and it has one
// again once it is back.
func TestBranchIsGone(t *testing.T) {
	w := newWorld(t)
	git := w.git.Repo(t, "infra")
	first := git.Commit("Begin")
	git.Bare("branch", "side")
	w.create("infra", w.git.URL("infra"), hook.Plain)
	_, err := w.Change(t.Context(), w.caller, "infra", repos.Order{Settings: func(s *repos.Settings) error {
		s.Branches = []string{"main", "side"}
		return nil
	}})
	must(t, err)
	heads := func() map[string]string {
		_, _ = w.Fetch(t.Context(), w.caller, "infra")
		r, err := w.Get(t.Context(), w.caller, "infra")
		must(t, err)
		return r.Status.Heads
	}
	heads()
	git.Bare("branch", "-m", "main", "trunk")
	if got := heads(); got["main"] != "" || got["side"] != first {
		t.Errorf("the heads are %v", got)
	}
	git.Bare("branch", "main", "trunk")
	if got := heads(); got["main"] != first {
		t.Errorf("the heads are %v once it is back", got)
	}
}

// TestOthers: another organization finds nothing by guessing, and who may only look changes nothing.
func TestOthers(t *testing.T) {
	w := newWorld(t)
	w.git.Repo(t, "infra").Commit("Begin")
	r, _ := w.create("infra", w.git.URL("infra"), hook.Plain)
	other := principal(uuid.New(), auth.Owner)
	_, err := w.Get(t.Context(), other, "infra")
	wantCode(t, err, fault.RepositoryNotFound)
	_, err = w.Fetch(t.Context(), other, "infra")
	wantCode(t, err, fault.RepositoryNotFound)
	_, err = w.Change(t.Context(), other, "infra", repos.Order{})
	wantCode(t, err, fault.RepositoryNotFound)
	must(t, w.Remove(t.Context(), other, "infra"))
	_, err = w.At(t.Context(), other.Org, "infra", strings.Repeat("1", 40))
	wantCode(t, err, fault.RepositoryNotFound)
	_, err = w.Credential(t.Context(), other.Org, "infra")
	wantCode(t, err, fault.RepositoryNotFound)
	reader := principal(w.caller.Org, auth.Reader)
	_, err = w.Get(t.Context(), reader, "infra")
	must(t, err)
	for _, do := range []func() error{
		func() error { return w.Remove(t.Context(), reader, "infra") },
		func() error { _, err := w.Fetch(t.Context(), reader, "infra"); return err },
		func() error { _, _, err := w.NewWebhookSecret(t.Context(), reader, "infra"); return err },
		func() error { _, err := w.Change(t.Context(), reader, "infra", repos.Order{}); return err },
		func() error {
			_, _, err := w.Create(t.Context(), reader, "x", at("https://example.com/x", hook.Plain))
			return err
		},
	} {
		wantCode(t, do(), fault.RightMissing)
	}
	still, err := w.Get(t.Context(), w.caller, "infra")
	must(t, err)
	if still.Revision != r.Revision {
		t.Errorf("it was changed: %+v", still)
	}
}

// TestSecretsStay: what a repository is fetched with follows to no other server, and is shown nowhere.
func TestSecretsStay(t *testing.T) {
	const token = "tok-5e45a6c0ffee"
	w := newWorld(t)
	w.git.Repo(t, "infra").Commit("Begin")
	w.git.Require("bot", token)
	order := at(w.git.URL("infra"), hook.Plain)
	_, _, err := w.Create(t.Context(), w.caller, "none", order)
	must(t, err)
	_, err = w.Fetch(t.Context(), w.caller, "none")
	wantCode(t, err, fault.RepositoryFailed)
	with := repos.Order{Settings: func(s *repos.Settings) error {
		s.Credential, s.User = repos.Token, "bot"
		return order.Settings(s)
	}, Secrets: func(s *repos.Secrets) { s.Token = token }}
	made, _, err := w.Create(t.Context(), w.caller, "infra", with)
	must(t, err)
	if strings.Contains(fmt.Sprintf("%+v %s", made, made.Sealed), token) {
		t.Error("the repository shows its token")
	}
	_, err = w.Fetch(t.Context(), w.caller, "infra")
	must(t, err)
	for _, url := range []string{"https://evil.example.com/infra.git", w.git.URL("") + "1/infra.git",
		strings.Replace(w.git.URL("infra"), "https", "ssh", 1)} {
		_, err := w.Change(t.Context(), w.caller, "infra", at(url, hook.Plain))
		wantCode(t, err, fault.RepositoryInvalid)
	}
	_, err = w.Change(t.Context(), w.caller, "infra", repos.Order{Settings: func(s *repos.Settings) error {
		s.API = "https://evil.example.com/api"
		return nil
	}})
	wantCode(t, err, fault.RepositoryInvalid)
	must(t, errOf(w.Change(t.Context(), w.caller, "infra", at(w.git.URL("other"), hook.Plain))))
	_, err = w.Fetch(t.Context(), w.caller, "infra")
	wantCode(t, err, fault.RepositoryFailed) // there is no such repository, but the token went along
	if strings.Contains(err.Error(), token) {
		t.Errorf("the error says the token: %v", err)
	}
}

func errOf[T any](_ T, err error) error { return err }

// TestBackoff: a repository that is gone is tried less and less often, and is in no other's way.
func TestBackoff(t *testing.T) {
	w := newWorld(t)
	w.git.Repo(t, "good").Commit("Begin")
	w.create("bad", w.git.URL("none"), hook.Plain)
	tried := 0
	for range 200 {
		w.Poll(t.Context())
		w.wait()
		r, err := w.Get(t.Context(), w.caller, "bad")
		must(t, err)
		tried = r.Status.Failures
		w.sleep(30 * time.Second)
	}
	// 15, 30, 60, 120, 240, 480 seconds and then every 10 minutes, in 100 minutes.
	if tried < 10 || tried > 17 {
		t.Errorf("it was tried %d times", tried)
	}
	w.create("good", w.git.URL("good"), hook.Plain)
	w.Poll(t.Context())
	w.wait()
	good, err := w.Get(t.Context(), w.caller, "good")
	must(t, err)
	if good.Status.Fetched.IsZero() {
		t.Errorf("the other one was not fetched: %+v", good.Status)
	}
	bad, err := w.Get(t.Context(), w.caller, "bad")
	must(t, err)
	if bad.Status.Kind != gitmirror.NotThere || bad.Status.Problem == "" {
		t.Errorf("the status is %+v", bad.Status)
	}
}

// wait waits until no fetch goes on: a fetch that is asked for comes behind those.
func (w *world) wait() {
	w.t.Helper()
	for w.Flying() > 0 {
		time.Sleep(2 * time.Millisecond)
	}
}

// TestBurst: of thousands of deliveries, sent from many at once, becomes a handful of fetches, the last of which has
// seen the last push.
func TestBurst(t *testing.T) {
	const deliveries = 1000
	w := newWorld(t)
	git := w.git.Repo(t, "infra")
	git.Commit("Begin")
	r, secret := w.create("infra", w.git.URL("infra"), hook.Plain)
	w.Poll(t.Context())
	w.wait()
	before := w.git.Fetches()
	last := git.Commit("Last")
	var all sync.WaitGroup
	for sender := range 8 {
		all.Go(func() {
			for i := range deliveries / 8 {
				_, err := w.deliver(r, secret, fmt.Sprint(sender, "-", i), `{"branch":"main"}`)
				if err != nil {
					t.Error(err)
				}
				if i%25 == 0 {
					w.sleep(time.Second)
					w.Poll(t.Context())
				}
			}
		})
	}
	all.Wait()
	for range 10 {
		w.wait()
		w.sleep(10 * time.Second)
		w.Poll(t.Context())
	}
	w.wait()
	if n := w.git.Fetches() - before; n < 1 || n > 15 {
		t.Errorf("%d deliveries became %d fetches", deliveries, n)
	}
	got, err := w.Get(t.Context(), w.caller, "infra")
	must(t, err)
	if got.Status.Heads["main"] != last {
		t.Errorf("the head is %s, not %s", got.Status.Heads["main"], last)
	}
}

// deliver sends what a script of one's own would.
func (w *world) deliver(r repos.Repository, secret, id, body string) (repos.Received, error) {
	h, err := w.Hooked(w.t.Context(), string(r.Settings.Provider), r.ID.String())
	if err != nil {
		return repos.Received{}, err
	}
	return w.Receive(w.t.Context(), h, signed(secret, id, body).Get, []byte(body))
}

func signed(secret, id, body string) http.Header {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write([]byte(body))
	sum := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	h := http.Header{}
	h.Set("X-Holdfast-Signature", sum)
	h.Set("X-Holdfast-Delivery", id)
	h.Set("X-Hub-Signature-256", sum)
	h.Set("X-GitHub-Delivery", id)
	h.Set("X-GitHub-Event", "issue_comment")
	return h
}

const comment = `{"action":"created","issue":{"number":7,"pull_request":{}},` +
	`"comment":{"id":1,"body":"holdfast apply","user":{"id":6,"login":"ada"},"created_at":"2026-03-01T11:59:00Z"}}`

// TestDeliveries: one that is forged, sent again, sent again under another ID, or too old counts for nothing; one that
// could not be dealt with may come again.
func TestDeliveries(t *testing.T) {
	w := newWorld(t)
	r, secret := w.create("infra", "https://example.com/x.git", hook.GitHub)
	fail := errors.New("not now")
	var got []repos.Event
	w.OnEvent(func(_ context.Context, e repos.Event) error {
		if fail != nil {
			return fail
		}
		got = append(got, e)
		return nil
	})
	_, err := w.deliver(r, "guessed", "1", comment)
	wantCode(t, err, fault.WebhookRefused)
	if _, err = w.deliver(r, secret, "1", comment); !errors.Is(err, fail) {
		t.Errorf("a delivery that could not be dealt with: %v", err)
	}
	fail = nil
	for i, want := range []repos.Received{{Kind: hook.Comment}, {Kind: hook.Comment, Repeat: true}} {
		if received, err := w.deliver(r, secret, "1", comment); err != nil || received != want {
			t.Errorf("%d: %+v, %v", i, received, err)
		}
	}
	if received, err := w.deliver(r, secret, "2", comment); err != nil || !received.Repeat {
		t.Errorf("the same body under another ID: %+v, %v", received, err)
	}
	if len(got) != 1 || got[0].Org != w.caller.Org || got[0].Repository != "infra" || got[0].Text != "holdfast apply" {
		t.Errorf("told were %+v", got)
	}
	w.sleep(72 * time.Hour)
	must(t, w.Sweep(t.Context())) // what is remembered ends, and so does what counts
	_, err = w.deliver(r, secret, "3", comment)
	wantCode(t, err, fault.WebhookInvalid)
	for _, id := range []string{"", strings.Repeat("x", 300)} {
		_, err := w.deliver(r, secret, id, strings.Replace(comment, "2026-03-01", "2026-03-04", 1))
		wantCode(t, err, fault.WebhookInvalid)
	}
	_, err = w.deliver(r, secret, "4", "{")
	wantCode(t, err, fault.WebhookInvalid)
	for provider, id := range map[string]string{"gitlab": r.ID.String(), "github": uuid.NewString(),
		"": r.ID.String(), "GitHub": r.ID.String()} {
		_, err := w.Hooked(t.Context(), provider, id)
		wantCode(t, err, fault.RepositoryNotFound)
	}
	_, next, err := w.NewWebhookSecret(t.Context(), w.caller, "infra")
	must(t, err)
	fresh := strings.Replace(comment, "2026-03-01", "2026-03-04", 1)
	_, err = w.deliver(r, secret, "5", fresh)
	wantCode(t, err, fault.WebhookRefused)
	must(t, errOf(w.deliver(r, next, "5", fresh)))
}

// TestTogether: those who ask for a fetch while one goes on share the next one.
func TestTogether(t *testing.T) {
	w := newWorld(t)
	git := w.git.Repo(t, "infra")
	git.Commit("Begin")
	w.create("infra", w.git.URL("infra"), hook.Plain)
	entered, leave := make(chan struct{}, 100), make(chan struct{})
	w.git.Before(func(http.ResponseWriter, *http.Request) bool {
		entered <- struct{}{}
		<-leave
		return true
	})
	var all sync.WaitGroup
	ask := func() {
		all.Go(func() {
			if _, err := w.Fetch(t.Context(), w.caller, "infra"); err != nil {
				t.Error(err)
			}
		})
	}
	ask()
	<-entered
	for range 20 {
		ask()
	}
	for w.Waiting() == 0 {
		time.Sleep(time.Millisecond)
	}
	w.git.Before(nil)
	close(leave)
	all.Wait()
	if n := w.git.Fetches(); n < 2 || n > 3 {
		t.Errorf("21 who asked became %d fetches", n)
	}
}

// TestShare: an organization whose repositories don't answer leaves workers to others.
func TestShare(t *testing.T) {
	w := newWorld(t)
	w.git.Repo(t, "good").Commit("Begin")
	leave := make(chan struct{})
	w.git.Before(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "slow") {
			<-leave
		}
		return true
	})
	defer close(leave)
	for i := range 10 {
		w.create(fmt.Sprint("slow", i), w.git.URL(fmt.Sprint("slow", i)), hook.Plain)
	}
	for w.Poll(t.Context()) > 0 {
	}
	other := principal(uuid.New(), auth.Owner)
	_, _, err := w.Create(t.Context(), other, "good", at(w.git.URL("good"), hook.Plain))
	must(t, err)
	w.Poll(t.Context())
	for {
		r, err := w.Get(t.Context(), other, "good")
		must(t, err)
		if !r.Status.Fetched.IsZero() {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// TestAsked: those who ask for fetches of repositories that don't answer keep no other organization's from being
// fetched in its time.
func TestAsked(t *testing.T) {
	w := newWorld(t)
	w.git.Repo(t, "good").Commit("Begin")
	leave := make(chan struct{})
	w.git.Before(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "slow") {
			<-leave
		}
		return true
	})
	defer close(leave)
	ctx, cancel := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	const asked = 10
	for i := range asked {
		name := fmt.Sprint("slow", i)
		w.create(name, w.git.URL(name), hook.Plain)
		asking.Go(func() { _, _ = w.Fetch(ctx, w.caller, name) })
	}
	for w.Flying() < asked {
		time.Sleep(time.Millisecond)
	}
	other := principal(uuid.New(), auth.Owner)
	_, _, err := w.Create(t.Context(), other, "good", at(w.git.URL("good"), hook.Plain))
	must(t, err)
	if w.Poll(t.Context()) == 0 {
		t.Fatal("no fetch begins")
	}
	for {
		r, err := w.Get(t.Context(), other, "good")
		must(t, err)
		if !r.Status.Fetched.IsZero() {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// TestAppOfAnotherProcess: a process that has a token of a GitHub App uses it for nothing else than what the repository
// was then, though another process has changed it.
func TestAppOfAnotherProcess(t *testing.T) {
	w := newWorld(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	secrets := repos.Secrets{Key: string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY",
		Bytes: x509.MarshalPKCS1PrivateKey(key)}))}
	hub := func(token string) string {
		server := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(to, `{"token":%q,"expires_at":"2030-01-01T00:00:00Z"}`, token)
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	r := repos.Repository{Org: w.caller.Org, ID: uuid.New(), Revision: 1, Settings: repos.Settings{
		URL: "https://git.example.com/acme/infra.git", Provider: hook.GitHub, Credential: repos.GitHubApp, App: "1",
		Installation: 1, API: hub("first")}}
	for range 2 {
		if token, err := w.AppToken(t.Context(), r, secrets); err != nil || token != "first" {
			t.Fatalf("%q, %v", token, err)
		}
	}
	r.Revision, r.Settings.API = 2, hub("second")
	if token, err := w.AppToken(t.Context(), r, secrets); err != nil || token != "second" {
		t.Errorf("%q, %v", token, err)
	}
}

// TestAPI: the address of the API is shown to who may look, and tokens go there.
func TestAPI(t *testing.T) {
	w := newWorld(t)
	for _, address := range []string{"https://ada:s3cret@git.example.com/api", "https://git.example.com/api?token=s3cret",
		"https://git.example.com/api#s3cret", "http://git.example.com/api", "git.example.com", "file:///etc", "https:///x"} {
		order := repos.Order{Settings: func(s *repos.Settings) error {
			s.URL, s.Provider, s.API = "https://git.example.com/a/b.git", hook.GitLab, address
			return nil
		}}
		_, _, err := w.Create(t.Context(), w.caller, "infra", order)
		if wantCode(t, err, fault.RepositoryInvalid); err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the error has the secret: %v", err)
		}
	}
}

// TestRecorded: the audit log has what was changed, and nothing of what was refused.
func TestRecorded(t *testing.T) {
	w := newWorld(t)
	recorded := func(want ...audit.Action) {
		t.Helper()
		events, err := w.outbox.Undelivered(t.Context(), w.caller.Org, 100)
		must(t, err)
		var got []audit.Action
		for _, e := range events {
			if e.Event.Note != "repository infra" || e.Event.Actor.KeyID != w.caller.KeyID {
				t.Errorf("%+v", e)
			}
			got = append(got, e.Event.Action)
		}
		if !slices.Equal(got, want) {
			t.Errorf("on record is %q, not %q", got, want)
		}
	}
	w.create("infra", "https://git.example.com/infra.git", hook.Plain)
	_, _, err := w.Create(t.Context(), w.caller, "infra", at("https://git.example.com/other.git", hook.Plain))
	wantCode(t, err, fault.RepositoryExists)
	recorded(repos.ActionCreate)
	change := at("https://git.example.com/elsewhere.git", hook.Plain)
	first := true
	_, err = w.Change(t.Context(), w.caller, "infra", repos.Order{Settings: func(s *repos.Settings) error {
		if first { // somebody else is faster
			first = false
			must(t, errOf(w.Change(t.Context(), w.caller, "infra", change)))
		}
		s.Poll = time.Hour
		return nil
	}})
	must(t, err)
	both, err := w.Get(t.Context(), w.caller, "infra")
	must(t, err)
	if both.Settings.Poll != time.Hour || both.Settings.URL != "https://git.example.com/elsewhere.git" {
		t.Errorf("one of two changes at once was lost: %+v", both.Settings)
	}
	recorded(repos.ActionCreate, repos.ActionChange, repos.ActionChange)
	must(t, w.Remove(t.Context(), w.caller, "infra"))
	must(t, w.Remove(t.Context(), w.caller, "infra"))
	recorded(repos.ActionCreate, repos.ActionChange, repos.ActionChange, repos.ActionRemove)
}

// TestRoom: an organization's mirrors take no more of the disk together than they may, and are in no other's way.
func TestRoom(t *testing.T) {
	w := newWorld(t)
	log := memory.New(64 << 20)
	t.Cleanup(func() { _ = log.Close() })
	small := repos.NewService(repos.Deps{Store: w.store, Gate: audit.NewGate(log, w.now), Seals: w.Seals,
		Folder: t.TempDir(), Allowed: w.Allowed, CAFile: w.CAFile, Now: w.now, Random: w.Random, Log: w.Log,
		Limits: repos.Limits{Mirrors: 1}})
	t.Cleanup(small.Close)
	other := principal(uuid.New(), auth.Owner)
	for _, name := range []string{"first", "second"} {
		w.git.Repo(t, name).Commit("Begin")
		w.create(name, w.git.URL(name), hook.Plain)
		must(t, errOf(small.Get(t.Context(), w.caller, name)))
	}
	_, _, err := small.Create(t.Context(), other, "first", at(w.git.URL("first"), hook.Plain))
	must(t, err)
	must(t, errOf(small.Fetch(t.Context(), w.caller, "first")))
	_, err = small.Fetch(t.Context(), w.caller, "second")
	wantCode(t, err, fault.RepositoryFailed)
	r, err := small.Get(t.Context(), w.caller, "second")
	if must(t, err); r.Status.Kind != gitmirror.TooLarge {
		t.Errorf("the status is %+v", r.Status)
	}
	must(t, errOf(small.Fetch(t.Context(), w.caller, "first"))) // it is there already
	must(t, errOf(small.Fetch(t.Context(), other, "first")))
}

// TestManyBranches: which branches are known does not change from fetch to fetch, and those that are named always are.
func TestManyBranches(t *testing.T) {
	heads := map[string]string{"zeta": "z"}
	for i := range 2 * repos.MaxHeads {
		heads[fmt.Sprintf("b%04d", i)] = "c"
	}
	for range 3 {
		kept := repos.HeadsKept(heads, "*", "zeta")
		if len(kept) != repos.MaxHeads || kept["zeta"] != "z" || kept["b0000"] == "" || kept["b0998"] == "" {
			t.Fatalf("%d are known, zeta %q", len(kept), kept["zeta"])
		}
	}
}

// TestTokenStaysWithItsHost: whatever the provider is said to be, the token goes to no other host than that of the
// repository, unless it is the provider's own.
func TestTokenStaysWithItsHost(t *testing.T) {
	w := newWorld(t)
	for i, c := range []struct {
		url      string
		provider hook.Provider
		want     string
	}{
		{"https://git.example.com/a/b.git", hook.Bitbucket, "https://git.example.com/2.0"},
		{"https://git.example.com:8443/a/b.git", hook.GitLab, "https://git.example.com:8443/api/v4"},
		{"https://gitlab.com/a/b.git", hook.GitHub, "https://gitlab.com/api/v3"},
		{"https://github.com/a/b.git", hook.GitHub, ""},
		{"https://bitbucket.org/a/b.git", hook.Bitbucket, ""},
		{"https://codeberg.org/a/b.git", hook.Forgejo, ""},
	} {
		name := fmt.Sprint("r", i)
		_, _, err := w.Create(t.Context(), w.caller, name, repos.Order{Settings: func(s *repos.Settings) error {
			s.URL, s.Provider, s.Credential = c.url, c.provider, repos.Token
			return nil
		}, Secrets: func(s *repos.Secrets) { s.Token = "tok" }})
		must(t, err)
		got, err := w.Credential(t.Context(), w.caller.Org, name)
		if must(t, err); got.Forge.API != c.want {
			t.Errorf("%s as %s: %q, not %q", c.url, c.provider, got.Forge.API, c.want)
		}
	}
}

// TestPushesFillNothing: a push that is sent again and again under other IDs keeps no comment from being taken.
func TestPushesFillNothing(t *testing.T) {
	w := newWorld(t)
	r, secret := w.create("infra", "https://example.com/x.git", hook.GitHub)
	w.Limits.Deliveries = 4
	h, err := w.Hooked(t.Context(), "github", r.ID.String())
	must(t, err)
	body := `{"ref":"refs/heads/main","after":"` + strings.Repeat("1", 40) + `"}`
	for i := range 10 {
		header := signed(secret, fmt.Sprint(i), body)
		header.Set("X-GitHub-Event", "push")
		got, err := w.Receive(t.Context(), h, header.Get, []byte(body))
		if err != nil || got.Kind != hook.Push {
			t.Fatalf("%d: %+v, %v", i, got, err)
		}
	}
	must(t, errOf(w.deliver(r, secret, "c", comment)))
}

// TestKeysForSomeStatesChangeNoRepository: what is in one is executed in runs of all workspaces that come from it.
func TestKeysForSomeStatesChangeNoRepository(t *testing.T) {
	w := newWorld(t)
	w.create("infra", "https://git.example.com/infra.git", hook.Plain)
	some, err := auth.ParsePatterns("dev/*")
	must(t, err)
	narrow := w.caller
	narrow.States = some
	order := at("https://git.example.com/other.git", hook.Plain)
	for what, err := range map[string]error{
		"create": errOf2(w.Create(t.Context(), narrow, "mine", order)),
		"change": errOf(w.Change(t.Context(), narrow, "infra", order)),
		"secret": errOf2(w.NewWebhookSecret(t.Context(), narrow, "infra")),
		"remove": w.Remove(t.Context(), narrow, "infra"),
	} {
		if !fault.Is(err, fault.RightMissing) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if r, err := w.Get(t.Context(), narrow, "infra"); err != nil || r.Settings.URL != "https://git.example.com/infra.git" {
		t.Errorf("%+v, %v", r, err)
	}
}

func errOf2[A, B any](_ A, _ B, err error) error { return err }

// A delivery that came before the repository got another address is dealt with when it comes again, once.
func TestDeliveriesBehindAChange(t *testing.T) {
	w := newWorld(t)
	r, secret := w.create("infra", "https://example.com/x.git", hook.GitHub)
	told := 0
	w.OnEvent(func(context.Context, repos.Event) error { told++; return nil })
	must(t, errOf(w.deliver(r, secret, "1", comment)))
	_, err := w.Change(t.Context(), w.caller, "infra", at("https://example.com/y.git", hook.GitHub))
	must(t, err)
	for i, repeat := range []bool{false, true} {
		if received, err := w.deliver(r, secret, "1", comment); err != nil || received.Repeat != repeat {
			t.Errorf("%d: %+v, %v", i, received, err)
		}
	}
	if told != 2 {
		t.Errorf("told %d times", told)
	}
}

// Whoever follows branches is told as well when a repository can't be fetched, and when it can again.
func TestTroubleIsTold(t *testing.T) {
	w := newWorld(t)
	git := w.git.Repo(t, "infra")
	git.Write("main.tf", "one")
	git.Commit("Begin")
	w.create("infra", w.git.URL("infra"), hook.Plain)
	told := 0
	w.OnMoved(func(context.Context, repos.Moved) { told++ })
	fetch := func(url string) {
		t.Helper()
		_, err := w.Change(t.Context(), w.caller, "infra", at(w.git.URL(url), hook.Plain))
		must(t, err)
		_, _ = w.Fetch(t.Context(), w.caller, "infra")
	}
	for i, step := range []struct {
		url  string
		told int
	}{{"infra", 1}, {"infra", 1}, {"nothing", 2}, {"nothing", 2}, {"infra", 3}, {"infra", 3}} {
		if fetch(step.url); told != step.told {
			t.Errorf("step %d: told %d times, want %d", i, told, step.told)
		}
	}
}
