package authfile

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
)

const idA = "11111111-2222-3333-4444-555555555555"

// everything is a file with every kind of section and setting.
func everything() string {
	return "[" + idA + "] ; ours\n" +
		"name = Acme\n" +
		"rate_limit = 120\n" +
		"state_rate_limit = off\n" +
		"quota = 20GiB\n" +
		"apikey = " + fakeHash(1) + "\n\n" +
		"; the pipeline\n" +
		"[" + strings.ToUpper(idA) + ".ci]\n" +
		"apikey = " + fakeHash(2) + " ; 2026-11-21\n" +
		"role = writer\n" +
		"states = prod/*, shared/network\n" +
		"expires = 2027-01-31\n" +
		"from = 10.0.0.0/8, 2001:db8::1\n" +
		"[aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee]\n" +
		"[" + idA + ".oidc.github]\n" +
		"issuer = https://token.example.com/acme\n" +
		"audience = holdfast\n" +
		"claims.sub = repo:acme/*:ref:refs/heads/main\n" +
		"claims.kubernetes.io.namespace = ci\n" +
		"role = writer\n" +
		"states = prod/**\n" +
		"from = 192.0.2.7\n" +
		"[" + idA + ".cert.ci]\n" +
		"san = dns:CI.acme.example, uri:spiffe://acme.example/ci\n" +
		"san = ip:2001:DB8::1\n" +
		"role = reader\n" +
		"expires = 2027-01-31T12:00:00+02:00\n" +
		"from = 10.0.0.0/8\n" +
		"[aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee.ci]\n" +
		"role = owner\n" +
		fakeHash(3)
}

func patterns(t *testing.T, text string) *auth.Patterns {
	t.Helper()
	p, err := auth.ParsePatterns(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSectionsAreRead(t *testing.T) {
	d := mustParse(t, everything())
	ten := netip.MustParsePrefix("10.0.0.0/8")
	want := []Organization{
		{Organization: keyring.Organization{
			ID: orgA, Name: "Acme", Limits: auth.Limits{Requests: 120, States: auth.Unlimited, Quota: 20 << 30},
			Keys: []keyring.StoredKey{
				{ID: keyID(fakeHash(1)), Hash: fakeHash(1), Cost: 10, Grant: auth.Grant{Role: auth.Owner}},
				{
					ID: keyID(fakeHash(2)), Name: "ci", Hash: fakeHash(2), Cost: 10, Label: "2026-11-21",
					Grant: auth.Grant{Role: auth.Writer, States: patterns(t, "prod/*, shared/network"),
						Expires: time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC)},
					From: []netip.Prefix{ten, netip.MustParsePrefix("2001:db8::1/128")},
				},
			},
			Tokens: []keyring.TokenRule{{
				Name: "github", Issuer: "https://token.example.com/acme", Audience: "holdfast",
				Claims: []keyring.ClaimPattern{{Claim: "sub", Pattern: "repo:acme/*:ref:refs/heads/main"},
					{Claim: "kubernetes.io.namespace", Pattern: "ci"}},
				Grant: auth.Grant{Role: auth.Writer, States: patterns(t, "prod/**")},
				From:  []netip.Prefix{netip.MustParsePrefix("192.0.2.7/32")},
			}},
			Certificates: []keyring.CertificateRule{{
				Name: "ci", SANs: []string{"dns:ci.acme.example", "uri:spiffe://acme.example/ci", "ip:2001:db8::1"},
				Grant: auth.Grant{Role: auth.Reader, Expires: time.Date(2027, 1, 31, 10, 0, 0, 0, time.UTC)},
				From:  []netip.Prefix{ten},
			}},
		}},
		{Organization: keyring.Organization{ID: orgB,
			Keys: []keyring.StoredKey{{ID: keyID(fakeHash(3)), Name: "ci", Hash: fakeHash(3), Cost: 10,
				Grant: auth.Grant{Role: auth.Owner}}}}},
	}
	same := []cmp.Option{
		cmpopts.IgnoreUnexported(Organization{}, keyring.ClaimPattern{}),
		cmp.Comparer(func(a, b *auth.Patterns) bool { return a.String() == b.String() }),
		cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
	}
	if diff := cmp.Diff(want, d.Organizations(), same...); diff != "" {
		t.Errorf("organizations (-want +got):\n%s", diff)
	}
	if d.String() != everything() {
		t.Errorf("rendered\n%s", d)
	}
}

func TestSectionsAreRefused(t *testing.T) {
	const head = "[" + idA + "]\n"
	key := head + "[" + idA + ".ci]\napikey = " + fakeHash(1) + "\n"      // line 4 is free
	full := key + "role = writer\n"                                       // line 5 is free
	token := head + "[" + idA + ".oidc.x]\nrole = writer\naudience = a\n" // needs issuer and claims; line 5 is free
	whole := token + "issuer = https://a.example\nclaims.sub = a\n"       // line 7 is free
	cert := head + "[" + idA + ".cert.x]\nrole = writer\n"                // needs san; line 4 is free
	for _, c := range []struct{ name, text, want string }{
		{"no organization", "[" + idA + ".ci]\nrole = owner\n" + fakeHash(1),
			"1: a section of an organization that does not stand above it"},
		{"organization below", "[" + idA + ".ci]\nrole = owner\n" + fakeHash(1) + "\n" + head,
			"1: a section of an organization that does not stand above it"},
		{"unknown kind", head + "[" + idA + ".saml.x]\n", "2: an unknown kind of section"},
		{"no name", head + "[" + idA + ".]\n", "2: not a section's name"},
		{"kind as a name", head + "[" + idA + ".OIDC]\n", "2: not a section's name: oidc, cert and states are"},
		{"dots", head + "[" + idA + ".oidc.a.b]\n", "2: not a section's name: 1 to 64"},
		{"odd name", head + "[" + idA + ".a b]\n", "2: not a section's name: 1 to 64"},
		{"long name", head + "[" + idA + "." + strings.Repeat("a", 65) + "]\n", "2: not a section's name: 1 to 64"},
		{"name like an ID", head + "[" + idA + ".0123456789aB]\n", "2: not a section's name: it looks like a key's ID"},
		{"same name", full + "[" + idA + ".CI]\nrole = owner\n" + fakeHash(2), "5: the same section as in line 2"},
		{"same token rule", whole + "[" + idA +
			".oidc.x]\nrole = owner\naudience = a\nissuer = https://a.example\nclaims.sub = a",
			"7: the same section as in line 2"},
		{"no role", key, "2: a role is missing: owner, writer, reader, outputs, uploader, auditor, operator or approver"},
		{"no key", head + "[" + idA + ".ci]\nrole = owner\n", "2: a key's section needs an apikey"},
		{"second key", full + "apikey = " + fakeHash(2), "5: a second apikey; the first is in line 3"},
		{"hash of another section", full + "[" + idA + ".b]\nrole = owner\n" + fakeHash(1), "7: the same hash as in line 3"},
		{"unknown role", key + "role = hunter2", "4: not a role: owner, writer,"},
		{"capital role", key + "role = Writer", "4: not a role: owner, writer,"},
		{"second role", full + "role = owner", "5: a second role; the first is in line 4"},
		{"states of an uploader", key + "role = uploader\nstates = hunter2/*",
			"5: states for a role that has no right on any state"},
		{"odd states", full + "states = a//b", "5: not a list of states: a pattern with an empty segment"},
		{"empty states", full + "states =", "5: not a list of states: an empty pattern"},
		{"odd expiry", full + "expires = 31.1.2027", "5: not a date such as"},
		{"no such day", full + "expires = 2027-02-30", "5: not a date such as"},
		{"expiry without zone", full + "expires = 2027-01-31T12:00:00", "5: not a date such as"},
		{"expiry that reads as never", full + "expires = 0001-01-01T00:00:00Z", "5: not in the years 1970 to 9998"},
		{"expiry in the year 0", full + "expires = 0000-12-31", "5: not in the years 1970 to 9998"},
		{"expiry in the year 10000", full + "expires = 9999-12-31", "5: not in the years 1970 to 9998"},
		{"expiry in the year 10000 of UTC", full + "expires = 9999-12-31T23:59:59-01:00", "5: not in the years 1970 to 9998"},
		{"odd address", full + "from = 10.0.0", "5: not a list of addresses"},
		{"zone", full + "from = fe80::1%eth0", "5: not a list of addresses"},
		{"address beyond its prefix", full + "from = 10.0.0.1/8", "5: a network whose address goes on"},
		{"IPv4 in IPv6", full + "from = ::ffff:10.0.0.1", "5: an IPv4 address in the clothes"},
		{"two commas", full + "from = 10.0.0.1,,10.0.0.2", "5: an empty entry"},
		{"empty from", full + "from =", "5: an empty entry"},
		{"setting of another section", full + "rate_limit = 60", "5: an unknown setting; a key's section has"},
		{"role of an organization", head + "role = owner", "2: an unknown setting; an organization has"},
		{"zero limit", head + "rate_limit = 0", "2: not a rate limit"},
		{"huge limit", head + "state_rate_limit = 1000001", "2: not a rate limit"},
		{"signed limit", head + "rate_limit = +60", "2: not a rate limit"},
		{"zero quota", head + "quota = 0", "2: not a quota: a size such as 20GiB, or off"},
		{"quota of nobody's unit", head + "quota = 20G", "2: not a quota"},
		{"automatic quota", head + "quota = auto", "2: not a quota"},
		{"second limit", head + "rate_limit = 6\nrate_limit = 7", "3: a second rate_limit; the first is in line 2"},
		{"no issuer", token + "claims.sub = a", "2: an oidc section needs an issuer"},
		{"no claims", token + "issuer = https://a.example", "2: an oidc section needs a claims.<name>"},
		{"no audience", head + "[" + idA + ".oidc.x]\nrole = writer\nissuer = https://a.example\nclaims.sub = a",
			"2: an oidc section needs an audience"},
		{"issuer without TLS", token + "claims.sub = a\nissuer = http://a.example", "6: an issuer's URL starts with https"},
		{"issuer's name like localhost", token + "claims.sub = a\nissuer = http://localhost.a.example",
			"6: an issuer's URL starts with https"},
		{"issuer with a password", token + "claims.sub = a\nissuer = https://u:hunter2@a.example", "6: not an issuer's URL"},
		{"issuer with a query", token + "claims.sub = a\nissuer = https://a.example?x", "6: not an issuer's URL"},
		{"issuer without host", token + "claims.sub = a\nissuer = https:///x", "6: not an issuer's URL"},
		{"claim without name", whole + "claims. = a", "7: not a claim's name"},
		{"claim with odd name", whole + "claims.a*b = a", "7: not a claim's name"},
		{"empty claim", whole + "claims.x =", "7: the value is missing"},
		{"quoted claim", whole + "claims.x = \"a\"", "7: a value can't start with a quotation mark"},
		{"claim with a reference", whole + "claims.x = %(role)s", "7: a value can't contain %("},
		{"same claim", whole + "claims.sub = b", "7: a second pattern for the same claim; the first is in line 6"},
		{"token that counts for ever", whole + "valid_for = 25h", "7: valid_for is a time such as 90m"},
		{"token that expires", whole + "expires = 2027-01-31", "7: an unknown setting; an oidc section has"},
		{"no san", cert, "2: a cert section needs a san"},
		{"san of no kind", cert + "san = ci.acme.example", "4: not a subject alternative name: it starts with"},
		{"san of an odd kind", cert + "san = cn:ci", "4: not a subject alternative name: it starts with"},
		{"wildcard", cert + "san = dns:*.acme.example", "4: not a subject alternative name"},
		{"odd dns", cert + "san = dns:a..b", "4: not a subject alternative name: a dns: name"},
		{"odd ip", cert + "san = ip:10.0.0.0/8", "4: not a subject alternative name: an ip: name"},
		{"odd email", cert + "san = email:ci", "4: not a subject alternative name: an email: name"},
		{"odd uri", cert + "san = uri:ci", "4: not a subject alternative name: a uri: name"},
		{"same san", cert + "san = dns:a.b, dns:A.b", "4: the same subject alternative name as in line 4"},
		{"san of another", cert +
			"san = dns:a\n[aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee]\n[aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee.cert.y]\nrole = " +
			"owner\nsan = dns:a", "8: the same subject alternative name as in line 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("auth.cfg", c.text)
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.HasPrefix(err.Error(), "auth.cfg:"+c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q, want one fault, auth.cfg:%s…", err, c.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows the value: %q", err)
			}
		})
	}
}

// What a section lacks is reported where it begins, in the order of the lines.
func TestSectionsReportAllFaults(t *testing.T) {
	text := "[" + idA + "]\n[" + idA + ".a]\nfrom = x\n[" + idA + ".oidc.b]\nissuer = x\nx = y\n[" + idA +
		".cert.c]\nexpires = x"
	_, err := Parse("auth.cfg", text)
	var got []int
	for _, f := range err.(*FileError).Faults {
		got = append(got, f.Line)
	}
	if diff := cmp.Diff([]int{2, 2, 3, 4, 4, 4, 5, 6, 7, 7, 8}, got); diff != "" {
		t.Errorf("lines with faults (-want +got):\n%s\n%v", diff, err)
	}
}

func TestLoopbackIssuersMayDoWithoutTLS(t *testing.T) {
	for _, issuer := range []string{"http://localhost:8080/realm", "http://127.0.0.1:1", "http://[::1]:1/x",
		"https://a.example/x/"} {
		if problem := checkIssuer(issuer); problem != "" {
			t.Errorf("%s: %s", issuer, problem)
		}
	}
}

func TestClaimPatternsMatch(t *testing.T) {
	for _, c := range []struct{ pattern, match, miss string }{
		{"repo:acme/*:ref:refs/heads/main", "repo:acme/infra:ref:refs/heads/main|repo:acme/:ref:refs/heads/main",
			"repo:acme/infra:ref:refs/heads/main2|xrepo:acme/a:ref:refs/heads/main|repo:acme/a:ref:refs/heads/main\n"},
		{"*", "|a|a\nb", ""},
		{"a.c", "a.c", "abc|a.c\n|A.c"},
		{"a*", "a|ab\n", "\na|ba"},
	} {
		claim, problem := readClaim(line{setting: "claims.sub", value: c.pattern})
		if problem != "" {
			t.Fatal(problem)
		}
		for value := range strings.SplitSeq(c.match, "|") {
			if !claim.Match(value) {
				t.Errorf("%q does not match %q", c.pattern, value)
			}
		}
		for value := range strings.SplitSeq(c.miss, "|") {
			if c.miss != "" && claim.Match(value) {
				t.Errorf("%q matches %q", c.pattern, value)
			}
		}
	}
	if (keyring.ClaimPattern{}).Match("") {
		t.Error("the zero pattern matches")
	}
}
