package verify

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/fault"
)

// goodToken has the form of a token.
var goodToken = "eyJhbGciOiJFUzI1NiJ9." + strings.Repeat("x", 60) + ".c2ln"

// answers is a TokenVerifier made of a function.
type answers func(rules *keyring.Keyring, cred auth.Credentials) (keyring.Token, error)

func (a answers) VerifyToken(_ context.Context, rules *keyring.Keyring, cred auth.Credentials) (keyring.Token, error) {
	return a(rules, cred)
}

// byRules takes every token for the first rule of its organization.
func byRules(rules *keyring.Keyring, cred auth.Credentials) (keyring.Token, error) {
	for _, login := range rules.Tokens("https://issuer.example", "a") {
		if login.Org.ID == cred.Org {
			return keyring.Token{TokenLogin: login, Subject: "job", Expires: time.Unix(500, 0)}, nil
		}
	}
	return keyring.Token{}, fault.New(fault.TokenRefused, "no rule")
}

func tokenRules(t *testing.T, more string) *keyring.Keyring {
	return parse(t, "["+orgA.String()+"]\nname = Acme\nrate_limit = 7\n["+orgA.String()+".oidc.ci]\n"+
		"issuer = https://issuer.example\naudience = a\nclaims.sub = *\nrole = writer\nstates = prod/*\n"+more)
}

func TestTokenBecomesPrincipal(t *testing.T) {
	b := newBench(t, Config{Tokens: answers(byRules)})
	b.Use(tokenRules(t, ""))
	got, err := b.Verify(t.Context(), auth.Credentials{Org: orgA, Key: goodToken},
		auth.Client{Address: "192.0.2.1", Request: "r1"})
	if err != nil {
		t.Fatal(err)
	}
	states, _ := auth.ParsePatterns("prod/*")
	want := auth.Principal{
		Org: orgA, OrgName: "Acme", KeyID: "oidc.ci", KeyName: "ci", Subject: "job",
		Grant:  auth.Grant{Role: auth.Writer, States: states, Expires: time.Unix(500, 0)},
		Limits: auth.Limits{Requests: 7}, Address: "192.0.2.1", Request: "r1",
	}
	if diff := cmp.Diff(want, got,
		cmp.Comparer(func(a, b *auth.Patterns) bool { return a.String() == b.String() })); diff != "" {
		t.Errorf("principal (-want +got):\n%s", diff)
	}
	if n := b.compared.Load(); n != 0 {
		t.Errorf("%d comparisons for a token", n)
	}
}

func TestTokenIsBoundToAddresses(t *testing.T) {
	b := newBench(t, Config{Tokens: answers(byRules)})
	b.Use(tokenRules(t, "from = 10.0.0.0/8, 2001:db8::/32\n"))
	for address, want := range map[string]string{
		"10.1.2.3": in, "::ffff:10.1.2.3": in, "2001:db8::1": in, "11.1.2.3": "address_refused", "": "address_refused",
	} {
		if got := b.from(address, orgA, goodToken); got != want {
			t.Errorf("%q: %s, want %s", address, got, want)
		}
	}
}

func TestRefusedTokensAreFailures(t *testing.T) {
	b := newBench(t, Config{Tokens: answers(byRules)})
	b.Use(tokenRules(t, ""))
	for n := range 20 {
		want := "token_refused"
		if n >= 10 {
			want = tooMany
		}
		if got := b.from("192.0.2.1", orgB, goodToken); got != want {
			t.Errorf("token %d: %s, want %s", n, got, want)
		}
	}
	if got := b.from("192.0.2.1", orgA, goodToken); got != in {
		t.Errorf("a good token from there: %s", got)
	}
	if got := b.from("192.0.2.1", orgA, "bad"); got != tooMany {
		t.Errorf("a key from there: %s, want %s", got, tooMany)
	}
	if log := b.log.String(); strings.Contains(log, goodToken) || !strings.Contains(log, "credentials refused") {
		t.Errorf("the log shows the token, or nothing: %s", log)
	}
}

// It is nobody's guess when an issuer can't be asked.
func TestUnavailableIssuerIsNoFailure(t *testing.T) {
	b := newBench(t, Config{Tokens: answers(func(*keyring.Keyring, auth.Credentials) (keyring.Token, error) {
		return keyring.Token{}, fault.New(fault.IssuerUnavailable, "down")
	})})
	for range 20 {
		if got := b.from("192.0.2.1", orgA, goodToken); got != "issuer_unavailable" {
			t.Fatalf("%s, want issuer_unavailable", got)
		}
	}
}

// A rule that was taken away while the issuer was asked must not count.
func TestTokenIsCheckedAgainAfterAReload(t *testing.T) {
	var b *bench
	calls := 0
	b = newBench(t, Config{Tokens: answers(func(rules *keyring.Keyring, cred auth.Credentials) (keyring.Token, error) {
		if calls++; calls == 1 {
			b.Use(keyring.New())
		}
		return byRules(rules, cred)
	})})
	b.Use(tokenRules(t, ""))
	if got := b.from("192.0.2.1", orgA, goodToken); got != "token_refused" || calls != 2 {
		t.Errorf("%s after %d checks, want token_refused after 2", got, calls)
	}
}

func TestTokensWithoutAVerifier(t *testing.T) {
	b := newBench(t, Config{})
	if got := b.from("192.0.2.1", uuid.Nil, goodToken); got != wrongly {
		t.Errorf("%s, want %s", got, wrongly)
	}
}
