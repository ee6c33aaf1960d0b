package lfs

import (
	"crypto/tls"
	"crypto/x509"
)

// tlsFor trusts hosts whose certificates these sign.
func tlsFor(pool *x509.CertPool) *tls.Config {
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}
