package certs

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// ParseAuthorities reads certificates in PEM, at least one. Unlike
// x509.CertPool.AppendCertsFromPEM it passes over nothing: an authority that was left out
// in silence would be missed when its clients come.
func ParseAuthorities(text []byte) (*x509.CertPool, error) {
	pool, count := x509.NewCertPool(), 0
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		count++ // pem.Decode passes over what is damaged
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("part %d is a %s, not a CERTIFICATE", count, block.Type)
		}
		authority, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("part %d is no certificate: %w", count, err)
		}
		pool.AddCert(authority)
	}
	switch begun := bytes.Count(text, []byte("-----BEGIN ")); {
	case begun > count:
		return nil, fmt.Errorf("%d of %d parts are damaged or cut off", begun-count, begun)
	case count == 0:
		return nil, errors.New("has no certificate in PEM")
	}
	return pool, nil
}
