package verify

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/fault"
)

// A request began with k1, and its body arrives a minute later.
func TestVerifyAgain(t *testing.T) {
	head := "[" + orgA.String() + "]\nname = Acme\n"
	key := func(name string, hash int, role string) string {
		return "[" + orgA.String() + "." + name + "]\napikey = " + fakeHash(hash) + "\nrole = " + role + "\n"
	}
	begin := head + key("ci", 1, "writer")
	for name, test := range map[string]struct {
		meanwhile string // empty for no change
		at        int64
		want      string
		role      auth.Role
	}{
		"nothing":                {"", 60, in, auth.Writer},
		"another key was added":  {begin + key("new", 2, "owner"), 60, in, auth.Writer},
		"the key was moved":      {head + key("old", 1, "writer"), 60, in, auth.Writer},
		"the key was revoked":    {head, 60, "credentials_revoked", ""},
		"its organization ended": {"; nobody\n", 60, "credentials_revoked", ""},
		"the key was replaced":   {head + key("ci", 2, "writer"), 60, "credentials_revoked", ""},
		"its role was lowered":   {head + key("ci", 1, "reader"), 60, in, auth.Reader},
		"it got an end":          {begin + "expires = 1970-01-01T00:00:30Z\n", 60, "key_expired", ""},
		"it got an end later on": {begin + "expires = 1970-01-01T00:02:00Z\n", 60, in, auth.Writer},
		"it was bound elsewhere": {begin + "from = 10.0.0.0/8\n", 60, "address_refused", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Config{FailuresPerMinute: 1})
			b.Use(parse(t, begin))
			cred, edition := auth.Credentials{Org: orgA, Key: "k1"}, b.Edition()
			before, err := b.Verify(t.Context(), cred, auth.Client{Address: "192.0.2.1", Request: "r1"})
			if err != nil {
				t.Fatal(err)
			}
			if test.meanwhile != "" {
				b.Use(parse(t, test.meanwhile))
			}
			b.now.Store(test.at)
			b.compared.Store(0)
			for range 3 { // no failure counts, however many there are
				now, err := b.VerifyAgain(t.Context(), cred, before, edition)
				if got := codeOr(err, in); got != test.want || now.Role != test.role {
					t.Errorf("%s with role %q, want %s with %q", got, now.Role, test.want, test.role)
				}
				if err == nil && (now.Org != orgA || now.Address != "192.0.2.1" || now.Request != "r1" ||
					now.KeyID != before.KeyID) {
					t.Errorf("%+v", now)
				}
			}
			if n := b.compared.Load(); n != 0 {
				t.Errorf("%d comparisons", n)
			}
			if test.want != in && !strings.Contains(b.log.String(), "credentials refused") {
				t.Error("the refusal is not logged")
			}
			if got := b.from("192.0.2.1", orgA, "bad"); got != wrongly {
				t.Errorf("a wrong key after that: %s", got)
			}
		})
	}
}

func codeOr(err error, good string) string {
	if err == nil {
		return good
	}
	return string(fault.From(err).Code)
}

func TestVerifyAgainOfATokenThatEnds(t *testing.T) {
	b := newBench(t, Config{Tokens: answers(byRules)})
	b.Use(tokenRules(t, ""))
	edition, cred := b.Edition(), auth.Credentials{Org: orgA, Key: goodToken}
	before, err := b.Verify(t.Context(), cred, auth.Client{Address: "192.0.2.1", Request: "r1"})
	if err != nil {
		t.Fatal(err)
	}
	again := func() string {
		_, err := b.VerifyAgain(t.Context(), cred, before, edition)
		return codeOr(err, in)
	}
	b.now.Store(499)
	if got := again(); got != in {
		t.Error(got)
	}
	b.now.Store(500)
	if got := again(); got != "key_expired" {
		t.Errorf("when its time is over: %s", got)
	}
	b.now.Store(0)
	b.Use(tokenRules(t, "from = 10.0.0.0/8\n"))
	if got := again(); got != "address_refused" {
		t.Errorf("bound elsewhere: %s", got)
	}
	b.Use(parse(t, "["+orgA.String()+"]\nname = Acme\n"))
	if got := again(); got != "credentials_revoked" {
		t.Errorf("without a rule: %s", got)
	}
	if b.guess("192.0.2.1", orgA, 20) != 10 {
		t.Error("a token that was good counts as a guess")
	}
}

func TestVerifyAgainOfACertificate(t *testing.T) {
	b := newBench(t, Config{})
	rules := func(rest string) *keyring.Keyring {
		return parse(t, "["+orgA.String()+"]\nname = Acme\n["+orgB.String()+"]\nname = B\n"+rest)
	}
	section := func(org uuid.UUID, role string) string {
		return "[" + org.String() + ".cert.ci]\nsan = dns:ci.example\nrole = " + role + "\n"
	}
	b.Use(rules(section(orgA, "writer")))
	shown := auth.Certificate{SANs: []string{"dns:ci.example"}, NotAfter: time.Unix(100, 0)}
	before, err := b.VerifyCertificate(t.Context(), shown, auth.Client{Address: "192.0.2.1", Request: "r1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		what string
		ring *keyring.Keyring
		at   int64
		want string
		role auth.Role
	}{
		{"nothing", rules(section(orgA, "writer")), 60, in, auth.Writer},
		{"the certificate ended", rules(section(orgA, "writer")), 100, "key_expired", ""},
		{"the role was lowered", rules(section(orgA, "reader")), 60, in, auth.Reader},
		{"the rule went", rules(""), 60, "credentials_revoked", ""},
		{"it is another organization's", rules(section(orgB, "writer")), 60, "credentials_revoked", ""},
	} {
		b.Use(test.ring)
		b.now.Store(test.at)
		now, err := b.VerifyCertificateAgain(t.Context(), shown, before)
		if got := codeOr(err, in); got != test.want || now.Role != test.role {
			t.Errorf("%s: %s with role %q, want %s with %q", test.what, got, now.Role, test.want, test.role)
		}
	}
}

// Whoever comes in is told of once, however often the same request is verified again.
func TestCallersAreToldOf(t *testing.T) {
	b := newBench(t, Config{Tokens: answers(byRules)})
	b.Use(parse(t, "["+orgA.String()+"]\n"+fakeHash(1)+"\n["+orgA.String()+
		".cert.ci]\nsan = dns:ci.example\nrole = writer\n"+
		"["+orgA.String()+".oidc.ci]\nissuer = https://issuer.example\naudience = a\nclaims.sub = *\nrole = writer\n"))
	var told []string
	b.Tell(func(p auth.Principal) { told = append(told, p.KeyID) })
	client := auth.Client{Address: "192.0.2.1"}
	var want []string
	for _, key := range []string{"k1", goodToken, "bad"} {
		cred, edition := auth.Credentials{Org: orgA, Key: key}, b.Edition()
		p, err := b.Verify(t.Context(), cred, client)
		if err != nil {
			continue
		}
		want = append(want, p.KeyID)
		if _, err := b.VerifyAgain(t.Context(), cred, p, edition-1); err != nil {
			t.Error(err)
		}
	}
	for _, san := range []string{"dns:ci.example", "dns:other.example"} {
		shown := auth.Certificate{SANs: []string{san}, NotAfter: time.Unix(100, 0)}
		p, err := b.VerifyCertificate(t.Context(), shown, client)
		if err != nil {
			continue
		}
		want = append(want, p.KeyID)
		if _, err := b.VerifyCertificateAgain(t.Context(), shown, p); err != nil {
			t.Error(err)
		}
	}
	if len(want) != 3 || !slices.Equal(told, want) {
		t.Errorf("told of %v, want %v", told, want)
	}
}
