package oidc_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/oidc/oidctest"
)

func TestGoodTokenStandsForItsRule(t *testing.T) {
	for _, algorithm := range []jose.SignatureAlgorithm{jose.RS256, jose.RS512, jose.PS256, jose.PS384, jose.ES256,
		jose.ES384, jose.ES512, jose.EdDSA} {
		t.Run(string(algorithm), func(t *testing.T) {
			r := newRig(t)
			key := r.issuer.Add(t, "another", algorithm)
			got, err := r.login(key.Sign(t, r.claims()))
			if err != nil {
				t.Fatal(err)
			}
			want := keyring.Token{
				TokenLogin: r.rules.Tokens(r.issuer.URL, audience)[0],
				Subject:    "repo:acme/infra:ref:refs/heads/main",
				Expires:    r.now().Add(10 * time.Minute),
			}
			if want.Org.ID != acme || want.Rule.Name != "github" {
				t.Fatalf("the first rule is %s of %s", want.Rule.Name, want.Org.ID)
			}
			same := cmp.Comparer(func(a, b keyring.TokenLogin) bool { return a.Org == b.Org && a.Rule.Name == b.Rule.Name })
			if diff := cmp.Diff(want, got, same); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTokenIsGoodForTheFirstRuleThatMatches(t *testing.T) {
	r := newRig(t)
	p, err := r.login(r.key.Sign(t, r.claims().With("repository", "acme/docs")))
	if err != nil || p.Rule.Name != "readers" || p.Rule.Role != auth.Reader {
		t.Errorf("%+v, %v; want the rule readers", p, err)
	}
}

func TestClaimsAreChecked(t *testing.T) {
	minute := func(r *rig, n int) int64 { return r.now().Add(time.Duration(n) * time.Minute).Unix() }
	for _, c := range []struct {
		name    string
		claims  func(r *rig, good oidctest.Claims) oidctest.Claims
		message string // of the refusal; empty when the token is good
	}{
		{"no exp", func(_ *rig, g oidctest.Claims) oidctest.Claims { return g.With("exp", nil) }, "no exp"},
		{"exp null", func(_ *rig, g oidctest.Claims) oidctest.Claims { return g.With("exp", json.RawMessage("null")) },
			"no exp"},
		{"exp is text", func(_ *rig, g oidctest.Claims) oidctest.Claims { return g.With("exp", "2099-01-01") },
			"can't be read"},
		{"exp is huge", func(_ *rig, g oidctest.Claims) oidctest.Claims { return g.With("exp", 1e300) }, "can't be read"},
		{"exp in the year 9999", func(_ *rig, g oidctest.Claims) oidctest.Claims { return g.With("exp", 253402300799) }, ""},
		{"exp in the year 10000", func(_ *rig, g oidctest.Claims) oidctest.Claims { return g.With("exp", 253402300800) },
			"its exp is beyond the year 9999"},
		{"expired", func(r *rig, g oidctest.Claims) oidctest.Claims { return g.With("exp", minute(r, -1)-1) },
			"its exp is past: it was good until 2027-01-15T07:58:59Z"},
		{"expired within the skew", func(r *rig, g oidctest.Claims) oidctest.Claims { return g.With("exp", minute(r, -1)) },
			""},
		{"not yet", func(r *rig, g oidctest.Claims) oidctest.Claims { return g.With("nbf", minute(r, 1)+1) },
			"its nbf is to come"},
		{"not yet within the skew", func(r *rig, g oidctest.Claims) oidctest.Claims { return g.With("nbf", minute(r, 1)) },
			""},
		{"issued in the future", func(r *rig, g oidctest.Claims) oidctest.Claims { return g.With("iat", minute(r, 1)+1) },
			"its iat is to come"},
		{"no nbf, no iat", func(_ *rig, g oidctest.Claims) oidctest.Claims { return g.With("nbf", nil).With("iat", nil) },
			""},
		{"no sub", func(_ *rig, g oidctest.Claims) oidctest.Claims { return g.With("sub", nil) }, "no sub"},
		{"sub is a number", func(_ *rig, g oidctest.Claims) oidctest.Claims { return g.With("sub", 7) }, "can't be read"},
		{"sub is long", func(_ *rig, g oidctest.Claims) oidctest.Claims { return g.With("sub", strings.Repeat("x", 1025)) },
			"no sub"},
		{"no aud", func(_ *rig, g oidctest.Claims) oidctest.Claims { return g.With("aud", nil) }, "needs an aud"},
		{"wrong aud", func(_ *rig, g oidctest.Claims) oidctest.Claims { return g.With("aud", "https://else.example.com") },
			"no rule of the organization is for its iss"},
		{"aud in another case", func(_ *rig,
			g oidctest.Claims) oidctest.Claims {
			return g.With("aud", "HTTPS://state.example.com")
		}, "no rule of the organization is for its iss"},
		{"one aud of several", func(_ *rig, g oidctest.Claims) oidctest.Claims {
			return g.With("aud", []string{"https://else.example.com", audience})
		}, ""},
		{"too many auds", func(_ *rig, g oidctest.Claims) oidctest.Claims {
			return g.With("aud", strings.Split(strings.Repeat("x ", 20)+audience, " "))
		}, "needs an aud"},
		{"no iss", func(_ *rig, g oidctest.Claims) oidctest.Claims { return g.With("iss", nil) }, "no iss"},
		{"iss with a slash", func(r *rig, g oidctest.Claims) oidctest.Claims { return g.With("iss", r.issuer.URL+"/") },
			"no rule of the organization is for its iss"},
		{"claim missing", func(_ *rig, g oidctest.Claims) oidctest.Claims { return g.With("ref", nil) },
			"claims that don't match: ref (rule github), repository (rule readers)"},
		{"claim wrong", func(_ *rig, g oidctest.Claims) oidctest.Claims { return g.With("ref", "refs/heads/main2") },
			"ref (rule github)"},
		{"claim with more lines",
			func(_ *rig, g oidctest.Claims) oidctest.Claims { return g.With("ref", "refs/heads/main\nx") }, "ref (rule github)"},
		{"claim in another case", func(_ *rig, g oidctest.Claims) oidctest.Claims {
			return g.With("ref", nil).With("Ref", "refs/heads/main")
		}, "ref (rule github)"},
		{"claim is an object", func(_ *rig, g oidctest.Claims) oidctest.Claims {
			return g.With("ref", map[string]string{"x": "refs/heads/main"})
		}, "ref (rule github)"},
		{"one of a claim's list", func(_ *rig, g oidctest.Claims) oidctest.Claims {
			return g.With("ref", []any{nil, 1, "refs/heads/main"})
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			token := r.key.Sign(t, c.claims(r, r.claims()))
			if c.message == "" {
				r.mustPass(t, token)
				return
			}
			r.mustFail(t, token, fault.TokenRefused, c.message)
			_, err := r.login(token)
			if told := fault.From(err).Message; strings.Contains(told, "acme/inf*") || strings.Contains(told, "acme/docs") {
				t.Errorf("the refusal tells what would do: %s", told)
			}
		})
	}
}

func TestOtherOrganizationsRulesDontCount(t *testing.T) {
	r := newRig(t)
	token := r.key.Sign(t, r.claims())
	for _, org := range []uuid.UUID{other, uuid.MustParse("99999999-9999-4999-8999-999999999999")} {
		_, err := r.loginTo(org, token)
		wantFault(t, err, fault.TokenRefused, "no rule of the organization is for its iss")
	}
	if n := r.issuer.Fetches(); n != 0 {
		t.Errorf("the issuer was asked %d times for tokens that no rule is for", n)
	}
}

func TestOrganizationOfTheOnlyRule(t *testing.T) {
	r := newRig(t)
	token := r.key.Sign(t, r.claims())
	if p, err := r.loginTo(uuid.Nil, token); err != nil || p.Org.ID != acme {
		t.Errorf("%+v, %v; want Acme", p, err)
	}
	r.rules = ring(t, strings.ReplaceAll(rulesOfTwo, "ISSUER", r.issuer.URL))
	_, err := r.loginTo(uuid.Nil, token)
	wantFault(t, err, fault.TokenRefused, "several organizations have rules for its iss and aud; name yours")
	if p, err := r.loginTo(other, token); err != nil || p.Org.ID != other {
		t.Errorf("%+v, %v; want Other", p, err)
	}
}

const rulesOfTwo = `[11111111-2222-3333-4444-555555555555]
[11111111-2222-3333-4444-555555555555.oidc.a]
issuer = ISSUER
audience = https://state.example.com
claims.repository = *
role = reader
[aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee]
[aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee.oidc.b]
issuer = ISSUER
audience = https://state.example.com
claims.repository = *
role = reader
`

func TestRuleThatIsGoneDoesNotCount(t *testing.T) {
	r := newRig(t)
	token := r.key.Sign(t, r.claims())
	r.mustPass(t, token)
	r.rules = ring(t, "[11111111-2222-3333-4444-555555555555]\nname = Acme\n")
	r.mustFail(t, token, fault.TokenRefused, "no rule of the organization")
}

func TestTokenEndsWithItsTime(t *testing.T) {
	r := newRig(t)
	token := r.key.Sign(t, r.claims())
	r.mustPass(t, token)
	r.pass(11 * time.Minute)
	r.mustPass(t, token)
	r.pass(time.Second)
	r.mustFail(t, token, fault.TokenRefused, "exp is past")
}

// An apply may take longer than its token's exp allows: the rule can say so.
func TestTokenCountsForAsLongAsTheRuleSays(t *testing.T) {
	r := newRig(t)
	r.rules = ring(t, strings.Replace(fmt.Sprintf(rules, r.issuer.URL), "role", "valid_for = 2h\nrole", 1))
	token := r.key.Sign(t, r.claims())
	r.pass(2 * time.Hour)
	got, err := r.login(token)
	if err != nil || got.Expires.Before(r.now()) {
		t.Fatalf("two hours after its iat: %v, good until %s", err, got.Expires)
	}
	r.pass(2 * time.Minute)
	r.mustFail(t, token, fault.TokenRefused, "exp is past")
}
