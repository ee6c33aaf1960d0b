package middleware_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/middleware"
)

// doorkeeper lets in whoever has a certificate, and nobody with a key.
type doorkeeper struct{ verifier }

func (*doorkeeper) VerifyCertificate(_ context.Context, shown auth.Certificate,
	client auth.Client) (auth.Principal, error) {
	return auth.Principal{Org: acme, Subject: shown.SANs[0], Request: client.Request}, nil
}

// A certificate counts where a request carries nothing else, however useless that is.
func TestCertificateInsteadOfCredentials(t *testing.T) {
	certificate := everyName()
	verified := &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{&certificate}}}
	shown := &tls.ConnectionState{PeerCertificates: []*x509.Certificate{&certificate}}
	for name, c := range map[string]struct {
		connection *tls.ConnectionState
		headers    []string
		status     int
	}{
		"verified":             {verified, nil, 200},
		"an organization":      {verified, []string{"X-Org-ID: " + globex.String()}, 200},
		"beside a wrong key":   {verified, []string{basic(acme.String(), madeByHand)}, 401},
		"beside a Bearer":      {verified, []string{"Authorization: Bearer x"}, 401},
		"beside an odd scheme": {verified, []string{"Authorization: Token x"}, 401},
		"beside an empty one":  {verified, []string{"Authorization: "}, 401},
		"beside an empty key":  {verified, []string{"X-API-Key: "}, 401},
		"only shown":           {shown, nil, 401},
		"no certificate":       {&tls.ConnectionState{}, nil, 401},
		"no TLS":               {nil, nil, 401},
	} {
		refuses := &doorkeeper{verifier{err: fault.New(fault.CredentialsWrong, "wrong")}}
		r := request("GET", append(c.headers, "X-Request-ID: r-1")...)
		r.TLS = c.connection
		var got auth.Principal
		answer := serve(newRouter(middleware.RequestID(), middleware.Authenticate(refuses, middleware.NativeCredentials),
			func(c *gin.Context) {
				got = middleware.Principal(c)
				c.Status(http.StatusOK)
			}), r)
		if answer.Code != c.status ||
			(c.status == 200) != (got.Org == acme && got.Subject == "dns:ci.acme.example" && got.Request == "r-1") {
			t.Errorf("%s: %d as %+v, want %d", name, answer.Code, got, c.status)
		}
	}
	// A verifier that knows of no certificates passes them over.
	r := request("GET")
	r.TLS = verified
	if answer := serve(guarded(t, &verifier{}), r); answer.Code != http.StatusUnauthorized {
		t.Errorf("%d", answer.Code)
	}
}
