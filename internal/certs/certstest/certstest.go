// Package certstest makes authorities and certificates for tests.
package certstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/netip"
	"os"
	"time"
)

// Authority signs certificates.
type Authority struct {
	// PEM is its own certificate.
	PEM  []byte
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority makes an authority of that name.
func NewAuthority(name string) *Authority {
	template := dated(x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	key := newKey()
	der := must(x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key))
	return &Authority{PEM: encode("CERTIFICATE", der), cert: must(x509.ParseCertificate(der)), key: key}
}

// Pool is what trusts this authority and no other.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// Pair is a certificate and its key, in PEM.
type Pair struct{ Cert, Key []byte }

// Issue makes a certificate of a template, for servers and clients, good for an hour
// unless the template says how long.
func (a *Authority) Issue(template x509.Certificate) Pair {
	template = dated(template)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	key := newKey()
	der := must(x509.CreateCertificate(rand.Reader, &template, a.cert, key.Public(), a.key))
	return Pair{encode("CERTIFICATE", der), encode("PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(key)))}
}

// ForAddress issues a certificate for an IP address.
func (a *Authority) ForAddress(address string) Pair {
	return a.Issue(x509.Certificate{IPAddresses: []net.IP{netip.MustParseAddr(address).AsSlice()}})
}

// Write writes the pair to two files.
func (p Pair) Write(certFile, keyFile string) error {
	if err := os.WriteFile(certFile, p.Cert, 0o600); err != nil {
		return err
	}
	return os.WriteFile(keyFile, p.Key, 0o600)
}

func dated(template x509.Certificate) x509.Certificate {
	template.SerialNumber = must(rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 100)))
	template.NotBefore = time.Now().Add(-time.Hour)
	if template.NotAfter.IsZero() {
		template.NotAfter = time.Now().Add(time.Hour)
	}
	return template
}

func newKey() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) }

// PEM is a certificate in PEM.
func PEM(c *x509.Certificate) []byte { return encode("CERTIFICATE", c.Raw) }

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// must panics: it is a mistake in the test's template.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
