package middleware_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/internal/certs/certstest"
	"github.com/holdfast/holdfast/middleware"
)

// everyName is a certificate with a name of each kind, and a wildcard, which stands for
// nobody.
func everyName() x509.Certificate {
	return x509.Certificate{
		DNSNames:       []string{"CI.acme.example", "*.acme.example"},
		URIs:           []*url.URL{{Scheme: "spiffe", Host: "acme.example", Path: "/ci"}},
		EmailAddresses: []string{"Ada@Acme.example"},
		IPAddresses:    []net.IP{net.IPv4(192, 0, 2, 1), net.ParseIP("2001:db8::1")},
	}
}

// Over a real connection, as far as the server has verified the certificate.
func TestVerifiedCertificate(t *testing.T) {
	all := []string{"dns:ci.acme.example", "email:Ada@acme.example", "ip:192.0.2.1", "ip:2001:db8::1",
		"uri:spiffe://acme.example/ci"}
	clients := certstest.NewAuthority("clients")
	end := time.Now().Add(24 * time.Hour).UTC().Truncate(time.Second)
	template := everyName()
	template.NotAfter = end
	pair := clients.Issue(template)
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		asks  tls.ClientAuthType
		shows []tls.Certificate
		want  []string
	}{
		"verified":     {tls.VerifyClientCertIfGiven, []tls.Certificate{certificate}, all},
		"only shown":   {tls.RequireAnyClientCert, []tls.Certificate{certificate}, nil},
		"not shown":    {tls.VerifyClientCertIfGiven, nil, nil},
		"not asked of": {tls.NoClientCert, []tls.Certificate{certificate}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got auth.Certificate
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				got = middleware.Certificate(r)
			}))
			server.TLS = &tls.Config{ClientAuth: c.asks, ClientCAs: clients.Pool()}
			server.StartTLS()
			defer server.Close()
			client := server.Client()
			client.Transport.(*http.Transport).TLSClientConfig.Certificates = c.shows
			answer, err := client.Get(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if diff := cmp.Diff(c.want, got.SANs); diff != "" {
				t.Error(diff)
			}
			if c.want != nil && !got.NotAfter.Equal(end) || c.want == nil && !got.NotAfter.IsZero() {
				t.Errorf("it ends %v", got.NotAfter)
			}
		})
	}
}

// What stands in headers is a stranger's word.
func TestNoCertificateWithoutTLS(t *testing.T) {
	got := middleware.Certificate(request("GET", "X-Client-Cert: dns:ci.acme.example",
		"X-Forwarded-Client-Cert: URI=spiffe://acme.example/ci"))
	if got.SANs != nil {
		t.Errorf("got %q", got.SANs)
	}
}
