package configs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTLSWithFiles(t *testing.T) {
	cert, key := writePair(t)
	s := withTLS(cert, key).mustLoad(t)
	if !s.Server.EnableTLS || s.Server.TLSCertFile != cert || s.Server.TLSKeyFile != key {
		t.Errorf("got %+v", s.Server)
	}
}

func TestTLSFilesMustBelongTogether(t *testing.T) {
	cert, _ := writePair(t)
	_, otherKey := writePair(t)
	_, err := withTLS(cert, otherKey).load(t)
	if err == nil || !strings.HasPrefix(err.Error(), "TLS_CERT_FILE: ") || !strings.Contains(err.Error(), "no certificate with its key") {
		t.Errorf("got %v", err)
	}
}

func withTLS(cert, key string) inputs {
	return inputs{env: []string{"TLS_CERT_FILE=" + cert, "TLS_KEY_FILE=" + key}, flags: []string{"--enable-tls"}}
}

// writePair writes a self-signed certificate and its key, and returns where.
func writePair(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	write(t, certFile, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})))
	write(t, keyFile, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	return certFile, keyFile
}
