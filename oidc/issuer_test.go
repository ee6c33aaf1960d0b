package oidc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/oidc/oidctest"
)

func TestLyingIssuers(t *testing.T) {
	var elsewhere atomic.Int64
	trap := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer trap.Close()
	say := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
	}
	configuration := func(issuer, keys string) http.HandlerFunc {
		return say(fmt.Sprintf(`{"issuer":%q,"jwks_uri":%q}`, issuer, keys))
	}
	weak := `{"keys":[{"kty":"RSA","kid":"first","alg":"RS256","e":"AQAB","n":"` + part(strings.Repeat("\xff", 128)) +
		`"}]}`
	for _, c := range []struct {
		name  string
		keys  bool // it lies about its keys, not in its configuration
		lie   func(r *rig) http.HandlerFunc
		shown string // in the log
	}{
		{"500", false, func(*rig) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }
		}, "500 Internal Server Error"},
		{"not JSON", false, func(*rig) http.HandlerFunc { return say("<html>") }, "is not JSON"},
		{"another issuer", false, func(r *rig) http.HandlerFunc { return configuration(trap.URL, r.issuer.URL+"/jwks") },
			"is that of"},
		{"a slash more", false, func(r *rig) http.HandlerFunc {
			return configuration(r.issuer.URL+"/", r.issuer.URL+
				"/jwks")
		}, "is that of"},
		{"keys elsewhere", false, func(r *rig) http.HandlerFunc { return configuration(r.issuer.URL, trap.URL+"/jwks") },
			"are not at"},
		{"keys with a user", false, func(r *rig) http.HandlerFunc {
			return configuration(r.issuer.URL, strings.Replace(r.issuer.URL, "//", "//u:p@", 1)+"/jwks")
		}, "are not at"},
		{"keys in a file", false, func(r *rig) http.HandlerFunc { return configuration(r.issuer.URL, "file:///etc/passwd") },
			"are not at"},
		{"redirect", false, func(*rig) http.HandlerFunc {
			return func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, trap.URL+"/x", http.StatusFound) }
		}, "302 Found"},
		{"redirect of keys", true, func(*rig) http.HandlerFunc {
			return func(w http.ResponseWriter, q *http.Request) {
				http.Redirect(w, q, trap.URL+"/x", http.StatusPermanentRedirect)
			}
		}, "308 Permanent Redirect"},
		{"huge configuration", false, func(*rig) http.HandlerFunc { return say(strings.Repeat(" ", 1<<20)) },
			"more than 262144 bytes"},
		{"huge keys", true, func(*rig) http.HandlerFunc { return say(strings.Repeat(" ", 1<<20)) }, "more than 524288 bytes"},
		{"endless", true, func(*rig) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				for _, err := io.WriteString(w, strings.Repeat(" ", 1<<16)); err == nil; {
					_, err = io.WriteString(w, strings.Repeat(" ", 1<<16))
				}
			}
		}, "more than 524288 bytes"},
		{"many keys", true, func(r *rig) http.HandlerFunc {
			text, _ := json.Marshal(r.key.Public())
			return say(`{"keys":[` + strings.Repeat(string(text)+",", 100) + string(text) + `]}`)
		}, "101 keys, more than 100"},
		{"no keys", true, func(*rig) http.HandlerFunc { return say(`{"keys":[]}`) }, "no key that can be used"},
		{"weak key", true, func(*rig) http.HandlerFunc { return say(weak) }, "no key that can be used"},
		{"shared secret", true, func(*rig) http.HandlerFunc {
			return say(`{"keys":[{"kty":"oct","kid":"first","k":"c2VjcmV0"},{"kty":"EC","kid":"first"},{},1,null]}`)
		}, "no key that can be used"},
		{"hangs up", true, func(*rig) http.HandlerFunc {
			return func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
		}, "EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			lie := c.lie(r)
			r.issuer.Instead(func(w http.ResponseWriter, q *http.Request) {
				if c.keys == (q.URL.Path == "/jwks") {
					lie(w, q)
					return
				}
				r.issuer.Answer(w, q)
			})
			r.mustFail(t, r.key.Sign(t, r.claims()), fault.IssuerUnavailable, "the token's issuer can't be asked")
			if text := r.log.String(); !strings.Contains(text, c.shown) {
				t.Errorf("the log lacks %q: %s", c.shown, text)
			}
			r.issuer.Instead(nil)
			r.mustFail(t, r.key.Sign(t, r.claims()), fault.IssuerUnavailable, "") // not asked again at once
			r.pass(5 * time.Second)
			r.mustPass(t, r.key.Sign(t, r.claims()))
		})
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("somebody else was asked %d times", n)
	}
}

// An issuer that never answers holds up its own tokens, and no more than 32 of them.
func TestHangingIssuerHoldsUpNobodyElse(t *testing.T) {
	r := newRig(t)
	hanging := oidctest.New(t)
	r.rules = ring(t, fmt.Sprintf(rules, r.issuer.URL)+
		fmt.Sprintf("[%s.oidc.dead]\nissuer = %s\naudience = %s\nclaims.sub = *\nrole = reader\n", other, hanging.URL,
			audience))
	arrived, release := make(chan struct{}, 100), make(chan struct{})
	hanging.Instead(func(http.ResponseWriter, *http.Request) { arrived <- struct{}{}; <-release })
	key := oidctest.NewKey(t, "x", jose.ES256)
	held := key.Sign(t, hanging.Claims(audience, r.now()))

	ctx, cancel := context.WithCancel(t.Context())
	refused := make(chan error, 100)
	var logins sync.WaitGroup
	for range 100 {
		logins.Go(func() {
			_, err := r.VerifyToken(ctx, r.rules, auth.Credentials{Org: other, Key: held})
			refused <- err
		})
	}
	for range 100 - 32 {
		wantFault(t, <-refused, fault.IssuerUnavailable, "")
	}
	<-arrived
	r.mustPass(t, r.key.Sign(t, r.claims()))
	cancel()
	for range 32 {
		wantFault(t, <-refused, fault.Interrupted, "")
	}
	logins.Wait()
	if n := hanging.Fetches(); n != 1 {
		t.Errorf("%d fetches, want 1", n)
	}
	close(release)
}

// pipes is a transport whose connections nobody ever answers on.
func pipes() *http.Transport {
	return &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, theirs) }()
		return ours, nil
	}}
}

func TestFetchesEndAfterFiveSeconds(t *testing.T) {
	r := newRig(t)
	token := r.key.Sign(t, r.claims())
	synctest.Test(t, func(t *testing.T) {
		v := r.verifier(t, pipes())
		start := time.Now()
		_, err := v.VerifyToken(t.Context(), r.rules, auth.Credentials{Org: acme, Key: token})
		wantFault(t, err, fault.IssuerUnavailable, "")
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("refused after %v, want 5s", took)
		}
	})
}

func TestCloseEndsEverything(t *testing.T) {
	r := newRig(t)
	token := r.key.Sign(t, r.claims())
	synctest.Test(t, func(t *testing.T) { // fails when a goroutine is left
		v := r.verifier(t, pipes())
		refused := make(chan error)
		go func() {
			_, err := v.VerifyToken(context.Background(), r.rules, auth.Credentials{Org: acme, Key: token})
			refused <- err
		}()
		synctest.Wait()
		start := time.Now()
		if err := v.Close(); err != nil {
			t.Error(err)
		}
		ended := strings.Contains(r.log.String(), "keys can't be had")
		wantFault(t, <-refused, fault.IssuerUnavailable, "")
		if took := time.Since(start); took != 0 {
			t.Errorf("it took %v to close", took)
		}
		if !ended {
			t.Error("closed while a fetch was running")
		}
		_, err := v.VerifyToken(t.Context(), r.rules, auth.Credentials{Org: acme, Key: token})
		wantFault(t, err, fault.IssuerUnavailable, "")
	})
}

func TestManyHangingIssuers(t *testing.T) {
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		v := r.verifier(t, pipes())
		text := "[11111111-2222-3333-4444-555555555555]\n"
		for n := range 20 {
			text += fmt.Sprintf("[%s.oidc.x%d]\nissuer = https://issuer-%d.example\naudience = %s\nclaims.sub = "+
				"*\nrole = reader\n", acme, n, n, audience)
		}
		ring := ring(t, text)
		start, refused := time.Now(), make(chan time.Duration)
		for n := range 20 {
			token := r.key.Sign(t, r.claims().With("iss", fmt.Sprintf("https://issuer-%d.example", n)))
			go func() {
				_, err := v.VerifyToken(context.Background(), ring, auth.Credentials{Org: acme, Key: token})
				wantFault(t, err, fault.IssuerUnavailable, "")
				refused <- time.Since(start)
			}()
		}
		atOnce := 0
		for range 20 {
			if <-refused == 0 {
				atOnce++
			}
		}
		if atOnce != 4 {
			t.Errorf("%d refused at once, want 4: 16 fetches may run", atOnce)
		}
	})
}

func TestCertificatesOfIssuersAreChecked(t *testing.T) {
	r := newRig(t)
	r.issuer = oidctest.NewTLS(t)
	r.issuer.Server.Config.ErrorLog = nil
	r.key = r.issuer.Add(t, "first", jose.RS256)
	r.rules = ring(t, fmt.Sprintf(rules, r.issuer.URL))
	token := r.key.Sign(t, r.claims())
	r.mustFail(t, token, fault.IssuerUnavailable, "")
	if text := r.log.String(); !strings.Contains(text, "certificate signed by unknown authority") {
		t.Errorf("the log says %s", text)
	}
	r.Verifier = r.verifier(t, r.issuer.Server.Client().Transport.(*http.Transport))
	r.mustPass(t, token)
}
