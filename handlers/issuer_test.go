package handlers_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/oidc"
	"github.com/holdfast/holdfast/oidc/oidctest"
)

// issuerWorld is a server with an issuer that signs people in.
type issuerWorld struct {
	*signInWorld
	issuer *oidctest.Issuer
}

func newIssuerWorld(t *testing.T) *issuerWorld {
	t.Helper()
	w := &issuerWorld{newSignInWorld(t), oidctest.New(t)}
	w.issuer.Add(t, "first", jose.ES256)
	w.deps.Page = testPage()
	w.deps.Now = w.now
	signIn := oidc.NewSignIn(oidc.SignInConfig{Issuer: w.issuer.URL, ClientID: "holdfast", ClientSecret: "s3cret",
		Scopes: []string{"openid"}, Now: w.now})
	w.deps.Issuer = &handlers.Issuer{Name: "Acme's", SignIn: signIn}
	w.start()
	signIn.RedirectURL = w.server.URL + handlers.CallbackPath
	w.use(w.rules("writer", "*@acme.example.com"))
	w.issuer.SignsIn(w.ana())
	return w
}

func (w *issuerWorld) rules(role, email string) string {
	return w.file("role = owner") +
		fmt.Sprintf("\n[%s.oidc.people]\nissuer = %s\naudience = holdfast\nclaims.email = %s\nrole = %s\n", acme,
			w.issuer.URL, email, role)
}

func (w *issuerWorld) ana() oidctest.Claims {
	return w.issuer.Claims("holdfast", w.now()).With("sub", "ana-1").With("email", "ana@acme.example.com")
}

// setOut returns where the browser is sent to, and the cookie of the flow.
func (w *issuerWorld) setOut(query string) (address string, flow *http.Cookie) {
	w.t.Helper()
	got := w.ask("GET /api/v1/session/oidc"+query, "", nil, browser)
	if got.status != 303 || len(got.Cookies()) != 1 {
		w.t.Fatalf("%d %s, %v", got.status, got.body, got.Cookies())
	}
	return got.Header.Get("Location"), got.Cookies()[0]
}

// atIssuer signs in there, and returns the path with which the browser is sent back.
func (w *issuerWorld) atIssuer(address string) string {
	w.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	got, err := client.Get(address)
	if err != nil {
		w.t.Fatal(err)
	}
	defer got.Body.Close()
	back, err := url.Parse(got.Header.Get("Location"))
	if err != nil || got.StatusCode != 302 {
		w.t.Fatalf("the issuer: %d %v", got.StatusCode, err)
	}
	return back.RequestURI()
}

// comeBack is the browser's way back: it is from another site.
func (w *issuerWorld) comeBack(path string, flow *http.Cookie) answerOf {
	w.t.Helper()
	return w.ask("GET "+path, "", flow, browser, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate")
}

func sessionIn(got answerOf) *http.Cookie {
	for _, cookie := range got.Cookies() {
		if cookie.Name == "holdfast-session" && cookie.MaxAge > 0 {
			return cookie
		}
	}
	return nil
}

// Who signs in with the issuer has one session afterwards: the cookie of the one before isn't sent from
// another site.
func TestAnIssuersSessionTakesThePlaceOfTheOneBefore(t *testing.T) {
	w := newIssuerWorld(t)
	enter := func(had *http.Cookie) *http.Cookie {
		got := w.ask("GET /api/v1/session/oidc", "", had, browser)
		for _, flow := range got.Cookies() {
			if cookie := sessionIn(w.comeBack(w.atIssuer(got.Header.Get("Location")), flow)); cookie != nil {
				return cookie
			}
		}
		t.Fatalf("%d %s", got.status, got.body)
		return nil
	}
	first := enter(nil)
	second := enter(first)
	w.want(w.ask("GET /api/v1/session", "", first, ownPage), 401, "session_over")
	w.want(w.ask("GET /api/v1/session", "", second, ownPage), 200, "ana-1")
	other := enter(nil) // another browser
	w.want(w.ask("GET /api/v1/session", "", second, ownPage), 200, "ana-1")
	w.want(w.ask("GET /api/v1/session", "", other, ownPage), 200, "ana-1")
}

func TestSignInWithAnIssuer(t *testing.T) {
	w := newIssuerWorld(t)
	w.want(w.ask("GET /api/v1/session/ways", "", nil), 200, `{"issuer":{"name":"Acme's","start":"/api/v1/session/oidc"}}`)
	address, flow := w.setOut("?to=" + url.QueryEscape("/ui/states/prod?tab=versions&version=3"))
	if flow.SameSite != http.SameSiteLaxMode || !flow.HttpOnly || flow.MaxAge <= 0 || flow.MaxAge > 600 {
		t.Errorf("the flow's cookie %+v", flow)
	}
	asked, _ := url.Parse(address)
	for name, want := range map[string]string{"client_id": "holdfast", "response_type": "code",
		"code_challenge_method": "S256", "scope": "openid"} {
		if got := asked.Query().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"state", "nonce", "code_challenge"} {
		if len(asked.Query().Get(name)) < 43 {
			t.Errorf("%s is %q", name, asked.Query().Get(name))
		}
	}
	got := w.comeBack(w.atIssuer(address), flow)
	cookie := sessionIn(got)
	if got.status != 303 || got.Header.Get("Location") != "/ui/states/prod?tab=versions&version=3" || cookie == nil ||
		cookie.SameSite != http.SameSiteStrictMode {
		t.Fatalf("%d %s to %q, %v", got.status, got.body, got.Header.Get("Location"), got.Cookies())
	}
	w.want(w.ask("GET /api/v1/session", "", cookie), 200,
		`"key_id":"oidc.people","key_name":"people","subject":"ana-1","role":"writer"`)
	w.pass(45 * time.Minute) // the issuer's token is over by now
	w.want(w.ask("POST /api/v1/state/x", body(1), cookie, ownPage), 200, "")

	w.use(w.rules("reader", "*@acme.example.com")) // another role counts at once
	w.want(w.ask("POST /api/v1/state/x", body(2), cookie, ownPage), 403, "right_missing")
	w.use(w.rules("reader", "bob@acme.example.com")) // another condition ends it
	w.want(w.ask("GET /api/v1/state/x", "", cookie), 401, "session_over")
	w.use(w.rules("reader", "*@acme.example.com"))
	w.want(w.ask("GET /api/v1/state/x", "", cookie), 401, "session_over")
}

// Whatever is wrong with the way back, nobody is signed in, and the page is told which code it has.
func TestSignInWithAnIssuerIsRefused(t *testing.T) {
	w := newIssuerWorld(t)
	address, flow := w.setOut("")
	back := w.atIssuer(address)
	otherAddress, otherFlow := w.setOut("")
	forged := *flow
	if forged.Value = "A" + flow.Value[1:]; forged.Value == flow.Value {
		forged.Value = "B" + flow.Value[1:]
	}
	refused := func(name string, got answerOf, code string) {
		t.Helper()
		to, _ := url.Parse(got.Header.Get("Location"))
		if got.status != 303 || to.Path != "/ui/sign-in" || to.Query().Get("error") != code ||
			to.Query().Get("request_id") == "" || sessionIn(got) != nil {
			t.Errorf("%s: %d to %q, %v; want %s", name, got.status, to, got.Cookies(), code)
		}
	}
	refused("no cookie", w.comeBack(back, nil), "sign_in_stale")
	refused("another browser's", w.comeBack(back, otherFlow), "sign_in_stale")
	refused("a cookie that was made up", w.comeBack(back, &forged), "sign_in_stale")
	astray := w.comeBack(strings.Replace(back, "iss=", "iss=x", 1), flow).Header.Get("Location")
	if !strings.Contains(astray, "to=%2Fui%2F") {
		t.Errorf("the page is not told where to go on: %s", astray)
	}
	refused("another state", w.comeBack(strings.Replace(back, "state=", "state=x", 1), flow), "sign_in_stale")
	refused("another issuer", w.comeBack(strings.Replace(back, "iss=", "iss=x", 1), flow), "token_refused")
	refused("a code that was made up", w.comeBack(strings.Replace(back, "code=", "code=x", 1), flow), "token_refused")
	if got := w.comeBack(back, flow); sessionIn(got) == nil {
		t.Errorf("the right way back: %d %s %s", got.status, got.body, got.Header.Get("Location"))
	}
	refused("the same code again", w.comeBack(back, flow), "token_refused")
	// A code of somebody else's flow, in one's own: PKCE and the nonce are another one's.
	theirs, _ := url.Parse(w.atIssuer(otherAddress))
	address, flow = w.setOut("")
	mixed, _ := url.Parse(w.atIssuer(address))
	query := mixed.Query()
	query.Set("code", theirs.Query().Get("code"))
	refused("somebody else's code", w.comeBack(mixed.Path+"?"+query.Encode(), flow), "token_refused")

	w.pass(11 * time.Minute)
	address, flow = w.setOut("")
	back = w.atIssuer(address)
	w.pass(11 * time.Minute)
	refused("too late", w.comeBack(back, flow), "sign_in_stale")
}

func TestSignInWithAnIssuerByClaims(t *testing.T) {
	for name, claims := range map[string]func(c oidctest.Claims) oidctest.Claims{
		"another domain": func(c oidctest.Claims) oidctest.Claims { return c.With("email", "ana@acme.example.com.evil.org") },
		"no claim":       func(c oidctest.Claims) oidctest.Claims { return c.With("email", nil) },
		"another nonce":  func(c oidctest.Claims) oidctest.Claims { return c.With("nonce", "replayed") },
		"another client": func(c oidctest.Claims) oidctest.Claims { return c.With("aud", "other") },
		"several clients": func(c oidctest.Claims) oidctest.Claims {
			return c.With("aud", []string{"holdfast", "other"}).With("azp", "other")
		},
		"another issuer":        func(c oidctest.Claims) oidctest.Claims { return c.With("iss", "https://evil.example.com") },
		"expired":               func(c oidctest.Claims) oidctest.Claims { return c.With("exp", 1) },
		"no subject":            func(c oidctest.Claims) oidctest.Claims { return c.With("sub", "") },
		"nobody, by the issuer": func(oidctest.Claims) oidctest.Claims { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := newIssuerWorld(t)
			w.issuer.SignsIn(claims(w.ana()))
			address, flow := w.setOut("")
			got := w.comeBack(w.atIssuer(address), flow)
			if got.status != 303 || !strings.Contains(got.Header.Get("Location"), "error=token_refused") ||
				sessionIn(got) != nil {
				t.Errorf("%d to %q, %v", got.status, got.Header.Get("Location"), got.Cookies())
			}
		})
	}
}

// The way back leads to the page, and nowhere else.
func TestSignInGoesOnInThePage(t *testing.T) {
	w := newIssuerWorld(t)
	for _, to := range []string{"https://evil.example.com/", "//evil.example.com/ui/", "/ui", "/api/v1/state/x",
		`/ui/\evil`, "/ui/\r\nx", "", "ui/", "/\\evil/ui/"} {
		got := w.ask("GET /api/v1/session/oidc?to="+url.QueryEscape(to), "", nil)
		w.want(got, 400, "parameter_invalid")
		if len(got.Cookies()) != 0 {
			t.Errorf("%q: %v", to, got.Cookies())
		}
	}
}

// Who makes codes up soon asks the issuer nothing any more.
func TestCodesThatAreMadeUpAreLimited(t *testing.T) {
	w := newIssuerWorld(t)
	address, flow := w.setOut("")
	asked, _ := url.Parse(address)
	counts := map[string]int{}
	for range 30 {
		got := w.ask("GET "+handlers.CallbackPath+"?code=x&state="+asked.Query().Get("state"), "", flow)
		for _, code := range []string{"token_refused", "too_many_failures"} {
			if strings.Contains(got.body, code) {
				counts[code]++
			}
		}
	}
	if counts["token_refused"] != 10 || counts["too_many_failures"] != 20 {
		t.Errorf("%v", counts)
	}
}

func TestIssuerIsAway(t *testing.T) {
	w := newIssuerWorld(t)
	w.issuer.Instead(func(rw http.ResponseWriter, _ *http.Request) { http.Error(rw, "away", 500) })
	for range 5 {
		w.want(w.ask("GET /api/v1/session/oidc", "", nil), 503, "issuer_unavailable")
	}
	if n := w.issuer.Fetches(); n != 1 {
		t.Errorf("the issuer was asked %d times", n)
	}
	w.issuer.Instead(nil)
	w.pass(6 * time.Second)
	w.setOut("")
}
