package handlers_test

import (
	"encoding/json"
	"fmt"
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
	"golang.org/x/crypto/bcrypt"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/auth/verify"
	"github.com/holdfast/holdfast/handlers"
)

// signInWorld is a server with a real check of keys, a clock of its own, and two organizations.
type signInWorld struct {
	t        *testing.T
	deps     handlers.Deps
	verifier *verify.Verifier
	clock    atomic.Int64
	acme     string // a key of each
	globex   string
	hashes   [2]string
	quick    map[string]string // cheaper hashes of the same keys
	server   *httptest.Server
}

// signInKeys are a key of each organization, which are hashed once for all tests.
var signInKeys = sync.OnceValue(func() (made [2]struct{ key, hash string }) {
	for i, org := range []uuid.UUID{acme, globex} {
		made[i].key = auth.NewKey(org)
		made[i].hash = hashed(made[i].key, authFileCost)
	}
	return made
})

const authFileCost = 10 // is the least that an auth file may have

func hashed(key string, cost int) string {
	hash, err := bcrypt.GenerateFromPassword([]byte(key), cost)
	if err != nil {
		panic(err)
	}
	return string(hash)
}

// quick puts the cheapest hashes of keys, by those that are in an auth file, into what was read of it. What depends on
// the time that a check takes is tested in package verify.
func quick(ring *keyring.Keyring, hashes map[string]string) *keyring.Keyring {
	for _, o := range ring.Organizations {
		for i, k := range o.Keys {
			if hash := hashes[k.Hash]; hash != "" {
				o.Keys[i].Hash, o.Keys[i].Cost = hash, bcrypt.MinCost
			}
		}
	}
	return ring
}

func newSignInWorld(t *testing.T) *signInWorld {
	t.Helper()
	keys := signInKeys()
	w := &signInWorld{t: t, acme: keys[0].key, globex: keys[1].key, hashes: [2]string{keys[0].hash, keys[1].hash},
		quick: map[string]string{}}
	for _, k := range keys {
		w.quick[k.hash] = hashed(k.key, bcrypt.MinCost)
	}
	w.clock.Store(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC).Unix())
	verifier, err := verify.New(verify.Config{Logger: slog.New(slog.DiscardHandler), Now: w.now})
	if err != nil {
		t.Fatal(err)
	}
	w.verifier = verifier
	w.use(w.file("role = owner"))
	deps, store, _ := testDepsWithoutResources(t)
	deps.Verifier, deps.Sessions = verifier, testSessions(testDatabase(t), store, verifier, w.now)
	w.deps = deps
	return w
}

func (w *signInWorld) now() time.Time { return time.Unix(w.clock.Load(), 0) }

func (w *signInWorld) pass(d time.Duration) { w.clock.Add(int64(d / time.Second)) }

// file is an auth file in which acme's key has these settings.
func (w *signInWorld) file(settings string) string {
	return fmt.Sprintf("[%s]\nname = Acme\n[%s.ana]\napikey = %s\n%s\n[%s]\nname = Globex\napikey = %s\n", acme, acme,
		w.hashes[0], settings, globex, w.hashes[1])
}

func (w *signInWorld) use(text string) {
	w.t.Helper()
	doc, err := authfile.Parse("auth.cfg", text)
	if err != nil {
		w.t.Fatal(err)
	}
	w.verifier.Use(quick(doc.Keyring(), w.quick))
}

func (w *signInWorld) start() {
	if w.server == nil {
		w.server = startServer(w.t, w.deps)
	}
}

// ask sends a request with these headers and a cookie, if there is one.
func (w *signInWorld) ask(route, body string, cookie *http.Cookie, headers ...string) answerOf {
	w.t.Helper()
	w.start()
	method, path, _ := strings.Cut(route, " ")
	asked, err := http.NewRequestWithContext(w.t.Context(), method, w.server.URL+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if body != "" {
		asked.Header.Set("Content-Type", "application/json")
	}
	if cookie != nil {
		asked.AddCookie(&http.Cookie{Name: cookie.Name, Value: cookie.Value})
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		asked.Header.Add(name, strings.ReplaceAll(value, "SELF", w.server.URL))
	}
	client := w.server.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	got, err := client.Do(asked)
	if err != nil {
		w.t.Fatal(err)
	}
	defer got.Body.Close()
	return answerOf{got.StatusCode, textOf(w.t, got.Body), got}
}

type answerOf struct {
	status int
	body   string
	*http.Response
}

func (w *signInWorld) want(got answerOf, status int, within string) {
	w.t.Helper()
	if got.status != status || !strings.Contains(got.body, within) {
		w.t.Errorf("%s %s: %d %s; want %d and %s", got.Request.Method, got.Request.URL.Path, got.status, got.body, status,
			within)
	}
}

const ownPage = "Sec-Fetch-Site: same-origin"

// signIn signs in with a key, and returns the cookie.
func (w *signInWorld) signIn(key string, had *http.Cookie) *http.Cookie {
	w.t.Helper()
	got := w.ask("POST /api/v1/session", `{"key":"`+key+`"}`, had, ownPage)
	w.want(got, 201, `"current":true`)
	cookies := got.Cookies()
	if len(cookies) != 1 {
		w.t.Fatalf("%d cookies: %v", len(cookies), cookies)
	}
	return cookies[0]
}

func TestSignIn(t *testing.T) {
	w := newSignInWorld(t)
	cookie := w.signIn(w.acme, nil)
	if cookie.Name != "holdfast-session" || !cookie.HttpOnly || cookie.Secure ||
		cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || cookie.Domain != "" {
		t.Errorf("the cookie %+v", cookie)
	}
	if strings.Contains(cookie.Value, w.acme) {
		t.Error("the cookie has the key")
	}
	for _, path := range []string{"/api/v1/session", "/api/v1/whoami", "/api/v1/states"} {
		w.want(w.ask("GET "+path, "", cookie), 200, "")
	}
	var who api.SignedIn
	got := w.ask("GET /api/v1/session", "", cookie)
	if err := json.Unmarshal([]byte(got.body), &who); err != nil {
		t.Fatal(err)
	}
	if who.OrgName != "Acme" || who.KeyName != "ana" || who.Role != "owner" || len(who.Rights) == 0 ||
		who.Session == nil || who.Expires == nil || !who.Expires.Equal(who.Session.EndsAt) {
		t.Errorf("%+v", who)
	}
	w.want(w.ask("GET /api/v1/audit", "", cookie), 200, `"action":"session.begin"`)
	w.want(w.ask("POST /api/v1/state/x", body(1), cookie, ownPage), 200, "")
	w.want(w.ask("GET /api/v1/state/x", "", cookie), 200, `"serial": 1`)
}

func TestSignInIsRefused(t *testing.T) {
	w := newSignInWorld(t)
	for body, want := range map[string]string{
		`{"key":"` + auth.NewKey(acme) + `"}`:                      "credentials_wrong",
		`{"key":"` + auth.NewKey(uuid.New()) + `"}`:                "credentials_wrong",
		`{"org":"` + globex.String() + `","key":"` + w.acme + `"}`: "credentials_wrong",
		`{"key":""}`:                      "credentials_needed",
		`{"key":"hfr_x"}`:                 "token_refused",
		`{"key":"` + madeUpToken() + `"}`: "token_refused",
		`{"key":1}`:                       "parameter_invalid",
		`[]`:                              "parameter_invalid",
		`{"key":"x","more":1}`:            "parameter_invalid",
		`{"key":"` + strings.Repeat("x", 5000) + `"}`: "body_too_large",
	} {
		got := w.ask("POST /api/v1/session", body, nil, ownPage)
		if !strings.Contains(got.body, want) || got.status/100 != 4 || len(got.Cookies()) != 0 {
			t.Errorf("%.80s: %d %s, cookies %v; want %s", body, got.status, got.body, got.Cookies(), want)
		}
		if strings.HasPrefix(got.Header.Get("WWW-Authenticate"), "Basic") {
			t.Errorf("%.80s: a browser would ask for a password", body)
		}
	}
	for _, from := range []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site",
		"Origin: https://evil.example.com", "Origin: null"} {
		w.want(w.ask("POST /api/v1/session", `{"key":"`+w.acme+`"}`, nil, from), 403, "cross_origin")
	}
	w.want(w.ask("POST /api/v1/session", `{"key":"`+w.acme+`"}`, nil, "Content-Type: text/plain"), 415,
		"media_unsupported")
}

func madeUpToken() string { return "eyJ" + strings.Repeat("x", 100) + ".e30.e30" }

// Signing in is limited as keys are.
func TestSignInIsLimited(t *testing.T) {
	w := newSignInWorld(t)
	counts := map[int]int{}
	for n := range 30 {
		counts[w.ask("POST /api/v1/session", fmt.Sprintf(`{"org":"%s","key":"guess %d"}`, acme, n), nil, ownPage).status]++
	}
	if counts[401] > 10 || counts[429] != 30-counts[401] {
		t.Errorf("%v", counts)
	}
}

// A token that somebody has put into a browser is not the one that its user then has, and what was
// there before the sign-in is over.
func TestSessionsAreNotFixed(t *testing.T) {
	w := newSignInWorld(t)
	planted := w.signIn(w.acme, nil)
	own := w.signIn(w.globex, planted)
	if own.Value == planted.Value {
		t.Error("the token that was planted is the user's")
	}
	w.want(w.ask("GET /api/v1/whoami", "", planted), 401, "session_over")
	made := &http.Cookie{Name: own.Name, Value: "hfs_chosen"}
	if next := w.signIn(w.acme, made); next.Value == made.Value {
		t.Error("a token that was made up is the user's")
	}
	w.want(w.ask("GET /api/v1/whoami", "", made), 401, "session_over")
}

// A tab that shows one organization does nothing in another one, as which another tab has signed in since.
func TestATabActsAsWhomItShows(t *testing.T) {
	w := newSignInWorld(t)
	cookie := w.signIn(w.acme, nil)
	var who api.Identity
	if err := json.Unmarshal([]byte(w.ask("GET /api/v1/whoami", "", cookie).body), &who); err != nil {
		t.Fatal(err)
	}
	shown := "Holdfast-Signed-In: " + who.OrgID.String() + "/" + who.KeyID + "/" + who.Subject
	w.want(w.ask("POST /api/v1/state/x", body(1), cookie, ownPage, shown), 200, "")
	other := w.signIn(w.globex, cookie)
	for _, route := range []string{"POST /api/v1/state/x", "DELETE /api/v1/state/x", "GET /api/v1/state/x",
		"DELETE /api/v1/session"} {
		w.want(w.ask(route, body(2), other, ownPage, shown), 403, "signed_in_as_other")
	}
	w.want(w.ask("GET /api/v1/state/x", "", other, ownPage), 404, "state_not_found")
	for _, bad := range []string{"x", "%zz/a/b", who.OrgID.String(), strings.ReplaceAll(shown, "/", "//")} {
		w.want(w.ask("GET /api/v1/whoami", "", other, "Holdfast-Signed-In: "+bad), 403, "signed_in_as_other")
	}
}

// Whatever the method and the address: what another site's page has a browser send changes nothing.
func TestOtherSitesChangeNothing(t *testing.T) {
	w := newSignInWorld(t)
	cookie := w.signIn(w.acme, nil)
	w.want(w.ask("POST /api/v1/state/x", body(1), cookie, ownPage), 200, "")
	evil := [][]string{
		{"Sec-Fetch-Site: cross-site"}, {"Sec-Fetch-Site: same-site"}, {"Sec-Fetch-Site: none"}, {"Sec-Fetch-Site: "},
		{"Sec-Fetch-Site: bogus"}, {},
		{"Origin: https://evil.example.com"}, {"Origin: null"}, {"Origin: http://evil.example.com", ownPage},
		{"Origin: SELF.evil.example.com"},
		{"Origin: SELF", "Sec-Fetch-Site: cross-site"}, {"Referer: SELF/ui/"},
	}
	routes := []string{
		"POST /api/v1/state/x", "PUT /api/v1/state/x", "DELETE /api/v1/state/x", "LOCK /api/v1/state/x",
		"UNLOCK /api/v1/state/x",
		"POST /api/v1/state/x/-/lock", "PUT /api/v1/state/x/-/lock", "DELETE /api/v1/state/x/-/lock", "POST /api/v1/upload",
		"POST /upload",
		"DELETE /api/v1/session", "DELETE /api/v1/sessions", "PATCH /api/v1/state/x", "BREW /api/v1/state/x",
	}
	for _, route := range routes {
		for _, headers := range evil {
			got := w.ask(route, body(2), cookie, headers...)
			if got.status != 403 || !strings.Contains(got.body, "cross_origin") {
				t.Errorf("%s with %q: %d %s", route, headers, got.status, got.body)
			}
		}
	}
	for _, headers := range [][]string{{"Sec-Fetch-Site: cross-site"}, {"Sec-Fetch-Site: same-site"},
		{"Origin: https://evil.example.com"}} {
		w.want(w.ask("GET /api/v1/state/x", "", cookie, headers...), 403, "cross_origin")
	}
	for _, headers := range [][]string{{}, {"Sec-Fetch-Site: none"}, {ownPage}, {"Origin: SELF"}} {
		w.want(w.ask("GET /api/v1/state/x", "", cookie, headers...), 200, `"serial": 1`)
	}
	w.want(w.ask("POST /api/v1/state/x", body(2), cookie, "Origin: SELF"), 200, "")
}

// At the addresses of other servers' clients, and of those who execute runs, there are no sessions.
func TestSessionsAreForTheAPIOnly(t *testing.T) {
	w := newSignInWorld(t)
	cookie := w.signIn(w.acme, nil)
	for _, route := range []string{
		"GET /terraform/state/e/p", "POST /terraform/state/e/p", "GET /api/v4/projects/acme/terraform/state/x",
		"GET /state/acme/x", "GET /acme/state/x",
		"POST /api/v1/runs/01J/lease", "POST /api/v1/agents",
	} {
		w.want(w.ask(route, body(1), cookie, ownPage), 401, "credentials_needed")
	}
}

func TestSignOut(t *testing.T) {
	w := newSignInWorld(t)
	stolen, other := w.signIn(w.acme, nil), w.signIn(w.acme, nil)
	got := w.ask("DELETE /api/v1/session", "", stolen, ownPage)
	w.want(got, 200, `"ended":1`)
	if cleared := got.Cookies(); len(cleared) != 1 || cleared[0].MaxAge >= 0 || cleared[0].Value != "" {
		t.Errorf("the browser keeps %v", cleared)
	}
	w.want(w.ask("GET /api/v1/whoami", "", stolen), 401, "session_over")
	w.want(w.ask("POST /api/v1/state/x", body(1), stolen, ownPage), 401, "session_over")
	w.want(w.ask("GET /api/v1/whoami", "", other), 200, "")

	third := w.signIn(w.acme, nil)
	theirs := w.signIn(w.globex, nil)
	w.want(w.ask("DELETE /api/v1/sessions", "", third, ownPage), 200, `"ended":2`)
	for _, gone := range []*http.Cookie{other, third} {
		w.want(w.ask("GET /api/v1/whoami", "", gone), 401, "session_over")
	}
	w.want(w.ask("GET /api/v1/whoami", "", theirs), 200, "Globex")
	w.want(w.ask("GET /api/v1/audit", "", nil, "Authorization: Bearer "+w.acme), 200, "session.end_all")
}

// Sessions are listed and ended by who has them, also with the key alone, and by nobody else.
func TestListOfSessions(t *testing.T) {
	w := newSignInWorld(t)
	own, other, theirs := w.signIn(w.acme, nil), w.signIn(w.acme, nil), w.signIn(w.globex, nil)
	list := func(cookie *http.Cookie) (all api.Sessions) {
		t.Helper()
		got := w.ask("GET /api/v1/sessions", "", cookie)
		if err := json.Unmarshal([]byte(got.body), &all); err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{own.Value, other.Value, theirs.Value} {
			if strings.Contains(got.body, secret) {
				t.Error("the list has a token")
			}
		}
		return all
	}
	all := list(own)
	if len(all.Sessions) != 2 || len(list(theirs).Sessions) != 1 {
		t.Fatalf("%+v", all)
	}
	for _, one := range all.Sessions {
		w.want(w.ask("DELETE /api/v1/sessions/"+one.ID, "", theirs, ownPage), 404, "session_not_found")
		if !one.Current {
			w.want(w.ask("DELETE /api/v1/sessions/"+one.ID, "", own, ownPage), 200, "")
		}
	}
	w.want(w.ask("GET /api/v1/whoami", "", other), 401, "session_over")
	w.want(w.ask("GET /api/v1/whoami", "", own), 200, "")
	w.want(w.ask("DELETE /api/v1/sessions", "", nil, "Authorization: Bearer "+w.acme), 200, `"ended":1`)
	w.want(w.ask("GET /api/v1/whoami", "", own), 401, "session_over")
}

func TestSessionsEnd(t *testing.T) {
	w := newSignInWorld(t)
	idle := w.signIn(w.acme, nil)
	w.pass(time.Hour - time.Second)
	busy := w.signIn(w.globex, nil)
	w.want(w.ask("GET /api/v1/whoami", "", idle), 200, "")
	w.pass(time.Hour)
	w.want(w.ask("GET /api/v1/whoami", "", idle), 401, "session_over")
	w.want(w.ask("GET /api/v1/whoami", "", busy), 401, "session_over")

	busy = w.signIn(w.globex, nil)
	for range 15 { // every half an hour
		w.pass(30 * time.Minute)
		w.want(w.ask("GET /api/v1/whoami", "", busy), 200, "")
	}
	w.pass(30 * time.Minute)
	w.want(w.ask("GET /api/v1/whoami", "", busy), 401, "session_over")
}

// What the auth file says now holds at the next request.
func TestSessionsFollowTheAuthFile(t *testing.T) {
	w := newSignInWorld(t)
	cookie := w.signIn(w.acme, nil)
	w.want(w.ask("POST /api/v1/state/x", body(1), cookie, ownPage), 200, "")
	w.use(w.file("role = reader"))
	w.want(w.ask("POST /api/v1/state/x", body(2), cookie, ownPage), 403, "right_missing")
	w.use(w.file("role = owner\nstates = prod/*"))
	w.want(w.ask("GET /api/v1/state/x", "", cookie), 403, "right_missing")
	w.use(w.file("role = owner\nfrom = 192.0.2.0/24"))
	w.want(w.ask("GET /api/v1/state/x", "", cookie), 403, "address_refused")
	w.use(w.file("role = owner"))
	w.want(w.ask("GET /api/v1/state/x", "", cookie), 200, "")
	w.use(w.file("role = owner\nexpires = 2026-11-22T12:00:00Z"))
	w.want(w.ask("GET /api/v1/state/x", "", cookie), 401, "session_over")

	w.use(w.file("role = owner"))
	w.want(w.ask("GET /api/v1/state/x", "", cookie), 401, "session_over") // it was over
	cookie = w.signIn(w.acme, nil)
	w.use(fmt.Sprintf("[%s]\nname = Acme\n", acme))
	w.want(w.ask("GET /api/v1/state/x", "", cookie), 401, "session_over")
}

// Credentials count before the cookie, good or not: nobody is taken for somebody else.
func TestCredentialsCountBeforeTheCookie(t *testing.T) {
	w := newSignInWorld(t)
	cookie := w.signIn(w.acme, nil)
	w.want(w.ask("GET /api/v1/whoami", "", cookie, "Authorization: Bearer "+w.globex), 200, "Globex")
	w.want(w.ask("POST /api/v1/state/x", body(1), cookie, "Authorization: Bearer "+w.globex), 200, "") // a program's
	for _, wrong := range []string{"Authorization: Bearer nonsense", "Authorization: ", "X-API-Key: ",
		"Private-Token: x"} {
		w.want(w.ask("GET /api/v1/whoami", "", cookie, wrong), 401, "credentials_")
	}
	w.want(w.ask("GET /api/v1/session", "", nil, "Authorization: Bearer "+w.globex), 200, `"session":null`)
	w.want(w.ask("DELETE /api/v1/session", "", nil, "Authorization: Bearer "+w.globex), 404, "session_not_found")
}

func TestCookiesThatMakeNoSense(t *testing.T) {
	w := newSignInWorld(t)
	good := w.signIn(w.acme, nil)
	flipped := []byte(good.Value)
	flipped[20] ^= 1
	for _, value := range []string{"", "x", "hfs_", "hfs_" + strings.Repeat("A", 86), string(flipped), good.Value + "A",
		good.Value[:len(good.Value)-1], strings.Repeat("x", 8<<10), w.acme} {
		w.want(w.ask("GET /api/v1/whoami", "", &http.Cookie{Name: good.Name, Value: value}), 401, "session_over")
	}
	w.want(w.ask("GET /api/v1/whoami", "", good, "Cookie: "+good.Name+"=planted"), 401,
		"session_over") // which of the two is the user's?
	if got := w.ask("GET /api/v1/whoami", "", nil, "Cookie: "+good.Name+"="+
		strings.Repeat("x", 2<<20)); got.status != 431 {
		t.Errorf("a cookie of 2 MiB: %d", got.status)
	}
	w.want(w.ask("GET /api/v1/whoami", "", &http.Cookie{Name: "__Host-" + good.Name, Value: good.Value}), 401,
		"credentials_needed") // without TLS
}

// Over TLS, and behind a proxy that is trusted and says so, the cookie is for TLS only.
func TestCookiesOverTLS(t *testing.T) {
	const name = "__Host-holdfast-session"
	over := newSignInWorld(t)
	router, err := handlers.NewRouter(over.deps)
	if err != nil {
		t.Fatal(err)
	}
	over.server = httptest.NewTLSServer(router)
	t.Cleanup(over.server.Close)
	if cookie := over.signIn(over.acme, nil); cookie.Name != name || !cookie.Secure || cookie.Path != "/" ||
		cookie.Domain != "" {
		t.Errorf("%+v", cookie)
	}
	behind := newSignInWorld(t)
	behind.deps.Sessions.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	got := behind.ask("POST /api/v1/session", `{"key":"`+behind.acme+`"}`, nil, "X-Forwarded-Proto: https")
	if cookies := got.Cookies(); len(cookies) != 1 || cookies[0].Name != name || !cookies[0].Secure {
		t.Errorf("behind a proxy: %d %v", got.status, cookies)
	}
	stranger := newSignInWorld(t)
	got = stranger.ask("POST /api/v1/session", `{"key":"`+stranger.acme+`"}`, nil, "X-Forwarded-Proto: https")
	if cookies := got.Cookies(); len(cookies) != 1 || cookies[0].Name == name {
		t.Errorf("somebody who is no proxy: %d %v", got.status, cookies)
	}
}

// A page's script is not told of Basic, or its browser would ask for a password.
func TestPagesAreNotAskedForPasswords(t *testing.T) {
	w := newSignInWorld(t)
	cookie := &http.Cookie{Name: "holdfast-session", Value: "x"}
	for _, got := range []answerOf{
		w.ask("GET /api/v1/states", "", nil, "Sec-Fetch-Mode: cors"), w.ask("GET /api/v1/states", "", cookie),
		w.ask("GET /api/v1/session", "", nil),
	} {
		if challenge := got.Header.Get("WWW-Authenticate"); got.status != 401 || strings.HasPrefix(challenge, "Basic") ||
			challenge == "" {
			t.Errorf("%s: %d %q", got.Request.URL, got.status, challenge)
		}
	}
	for _, headers := range [][]string{{}, {"Sec-Fetch-Mode: navigate"}} {
		if got := w.ask("GET /api/v1/states", "", nil, headers...); !strings.HasPrefix(got.Header.Get("WWW-Authenticate"),
			"Basic") {
			t.Errorf("%q: %q", headers, got.Header.Get("WWW-Authenticate"))
		}
	}
}
