package auth

import (
	"crypto/x509"
	"net"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
	want := []string{"dns:ci.acme.example", "email:CI@acme.example", "ip:192.0.2.1", "ip:2001:db8::1",
		"uri:spiffe://acme.example/ci"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}
