package auth

import (
	"crypto/x509"
	"net"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKeyringFindsRules(t *testing.T) {
	text := everything() + "\n[aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee.oidc.gh]\n" +
		"issuer = https://token.example.com/acme\naudience = holdfast\nclaims.sub = b\nrole = reader\n"
	r := NewKeyring(mustParse(t, text))
	if login, ok := r.Certificate("dns:ci.acme.example"); !ok || login.Org.ID != orgA || login.Rule.Name != "ci" {
		t.Errorf("certificate: %v %+v", ok, login)
	}
	if _, ok := r.Certificate("dns:other.example"); ok {
		t.Error("found a rule for a name that has none")
	}
	both := r.Tokens("https://token.example.com/acme", "holdfast")
	if len(both) != 2 || both[0].Org.ID != orgA || both[1].Org.ID != orgB || both[1].Rule.Name != "gh" {
		t.Errorf("tokens: %+v", both)
	}
	if others := r.Tokens("https://token.example.com/acme", "other"); len(others) > 0 {
		t.Errorf("tokens for another audience: %+v", others)
	}
	if own := r.TokensOf(orgB); len(own) != 1 || own[0].Name != "gh" {
		t.Errorf("tokens of one organization: %+v", own)
	}
}

func TestCertificateSANs(t *testing.T) {
	uri, err := url.Parse("spiffe://acme.example/ci")
	if err != nil {
		t.Fatal(err)
	}
	got := CertificateSANs(&x509.Certificate{
		DNSNames:       []string{"CI.acme.example", "*.acme.example"},
		EmailAddresses: []string{"CI@Acme.Example"},
		IPAddresses:    []net.IP{net.ParseIP("192.0.2.1"), net.ParseIP("2001:db8::1")},
		URIs:           []*url.URL{uri},
	})
	want := []string{"dns:ci.acme.example", "email:CI@acme.example", "ip:192.0.2.1", "ip:2001:db8::1", "uri:spiffe://acme.example/ci"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}
