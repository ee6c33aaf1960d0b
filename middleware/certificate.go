package middleware

import (
	"net/http"

	"github.com/holdfast/holdfast/auth"
)

// CertificateNames returns the subject alternative names of the client's certificate, as
// auth.CertificateSANs spells them, such as "dns:ci.acme.example".
//
// Without TLS, and without a certificate that the server has verified, there are none: one
// that was only shown proves nothing.
func CertificateNames(r *http.Request) []string {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 || len(r.TLS.VerifiedChains[0]) == 0 {
		return nil
	}
	return auth.CertificateSANs(r.TLS.VerifiedChains[0][0])
}
