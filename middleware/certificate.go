package middleware

import (
	"net/http"

	"github.com/holdfast/holdfast/auth"
)

// Certificate returns what counts of the client's certificate. Without TLS, and without a
// certificate that the server has verified, it has no names: one that was only shown
// proves nothing.
func Certificate(r *http.Request) auth.Certificate {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 || len(r.TLS.VerifiedChains[0]) == 0 {
		return auth.Certificate{}
	}
	leaf := r.TLS.VerifiedChains[0][0]
	return auth.Certificate{SANs: auth.CertificateSANs(leaf), NotAfter: leaf.NotAfter}
}
