package middleware

import (
	"net/http"
	"net/netip"
	"strings"
)

// CertificateNames returns what the client's certificate says of who it is, its subject
// alternative names, each with its kind:
//
//	dns:ci.acme.example
//	uri:spiffe://acme.example/ci
//	email:ci@acme.example
//	ip:192.0.2.1
//
// DNS names are in small letters. Names are to be compared as a whole: a certificate may
// hold a wildcard, which stands for nobody but itself.
//
// Without TLS, and without a certificate that the server has verified, there are none: one
// that was only shown proves nothing.
func CertificateNames(r *http.Request) []string {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 || len(r.TLS.VerifiedChains[0]) == 0 {
		return nil
	}
	leaf := r.TLS.VerifiedChains[0][0]
	var names []string
	for _, name := range leaf.DNSNames {
		names = append(names, "dns:"+strings.ToLower(name))
	}
	for _, uri := range leaf.URIs {
		names = append(names, "uri:"+uri.String())
	}
	for _, address := range leaf.EmailAddresses {
		names = append(names, "email:"+address)
	}
	for _, bytes := range leaf.IPAddresses {
		if ip, ok := netip.AddrFromSlice(bytes); ok {
			names = append(names, "ip:"+ip.Unmap().String())
		}
	}
	return names
}
