package oidc_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/oidc"
)

// TestAddressesOfASignIn: an issuer that is asked over TLS can have nothing at an address where somebody on the way
// could read a code, or put keys of their own.
func TestAddressesOfASignIn(t *testing.T) {
	for name, c := range map[string]struct {
		authorize, token, keys string
		refused                bool
	}{
		"all over TLS":        {"https://a.example.com/a", "https://b.example.com/t", "https://c.example.com/k", false},
		"authorize in clear":  {"http://a.example.com/a", "https://b.example.com/t", "https://c.example.com/k", true},
		"token in clear":      {"https://a.example.com/a", "http://b.example.com/t", "https://c.example.com/k", true},
		"keys in clear":       {"https://a.example.com/a", "https://b.example.com/t", "http://c.example.com/k", true},
		"keys nowhere":        {"https://a.example.com/a", "https://b.example.com/t", "", true},
		"keys with a user":    {"https://a.example.com/a", "https://b.example.com/t", "https://u@c.example.com/k", true},
		"keys of another one": {"https://a.example.com/a", "https://b.example.com/t", "file:///etc/passwd", true},
	} {
		t.Run(name, func(t *testing.T) {
			var issuer *httptest.Server
			issuer = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":%q,"token_endpoint":%q,"jwks_uri":%q}`, issuer.URL,
					c.authorize, c.token, c.keys)
			}))
			t.Cleanup(issuer.Close)
			s := oidc.NewSignIn(oidc.SignInConfig{Issuer: issuer.URL, ClientID: "holdfast",
				Transport: issuer.Client().Transport.(*http.Transport)})
			_, err := s.Start(t.Context(), oidc.Flow{State: "s", Nonce: "n", Verifier: "v"})
			if refused := fault.Is(err, fault.IssuerUnavailable); refused != c.refused || err != nil && !refused {
				t.Errorf("got %v", err)
			}
		})
	}
}
