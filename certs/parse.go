package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

func parsePair(paths []string, texts [][]byte) (*tls.Certificate, error) {
	pair, err := tls.X509KeyPair(texts[0], texts[1])
	if err != nil {
		return nil, fmt.Errorf("%s and %s are no certificate with its key: %w", paths[0], paths[1], err)
	}
	return &pair, nil
}

func parseAuthorities(paths []string, texts [][]byte) (*x509.CertPool, error) {
	pool, err := ParseAuthorities(texts[0])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", paths[0], err)
	}
	return pool, nil
}

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
