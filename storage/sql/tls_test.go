package sqluploads

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
)

// TestTLS connects in every mode to a server with a certificate of its own making, and to
// one without any.
func TestTLS(t *testing.T) {
	suite.Deep(t)
	cert, key := certificate(t)
	_, with := mysqltest.Private(t, "--ssl-cert="+cert, "--ssl-key="+key)
	_, without := mysqltest.Private(t, "--loose-skip-ssl", "--tls-version=") // MariaDB knows the first, MySQL the second
	for name, c := range map[string]struct {
		mode, ca      string
		with, without bool
		encrypted     bool
	}{
		"off":                 {mode: mysqldb.TLSOff, with: true, without: true},
		"preferred":           {mode: mysqldb.TLSPreferred, with: true, without: true, encrypted: true},
		"required":            {mode: mysqldb.TLSRequired},
		"required, authority": {mode: mysqldb.TLSRequired, ca: cert, with: true, encrypted: true},
		"skip-verify":         {mode: mysqldb.TLSSkipVerify, with: true, encrypted: true},
		"unused authority":    {mode: mysqldb.TLSPreferred, ca: cert},
	} {
		t.Run(name, func(t *testing.T) {
			o := mysqlOptions(with)
			o.MySQL.TLS, o.MySQL.TLSCAFile = c.mode, c.ca
			wantEncrypted(t, o, c.with, c.encrypted)
			o.MySQL.Port, o.MySQL.Password = without.Port, without.Password
			wantEncrypted(t, o, c.without, false)
		})
	}
}

// wantEncrypted opens the store, if that should be possible, and asks the server for the
// connection's cipher.
func wantEncrypted(t *testing.T, o Options, opens, encrypted bool) {
	t.Helper()
	store, err := Open(t.Context(), o)
	if (err == nil) != opens {
		t.Fatalf("error %v, want one: %v", err, !opens)
	}
	if err != nil {
		return
	}
	defer func() { _ = store.Close() }()
	appendTo(t, store, batchOf(uuid.New(), 1))
	var variable, cipher string
	err = store.db.QueryRowContext(t.Context(), "SHOW SESSION STATUS LIKE 'Ssl_cipher'").Scan(&variable, &cipher)
	if err != nil || (cipher != "") != encrypted {
		t.Errorf("the cipher is %q, %v; want one: %v", cipher, err, encrypted)
	}
}

// certificate returns the files of one that is its own authority, for 127.0.0.1.
func certificate(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pemFile(t, "CERTIFICATE", cert), pemFile(t, "PRIVATE KEY", der)
}

func pemFile(t *testing.T, kind string, der []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
