package configs

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/internal/certs/certstest"
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
	if err == nil || !strings.HasPrefix(err.Error(), "TLS_CERT_FILE: ") ||
		!strings.Contains(err.Error(), "no certificate with its key") {
		t.Errorf("got %v", err)
	}
}

func withTLS(cert, key string) inputs {
	return inputs{env: []string{"TLS_CERT_FILE=" + cert, "TLS_KEY_FILE=" + key}, flags: []string{"--enable-tls"}}
}

// writePair writes a certificate and its key, and returns where.
func writePair(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	certFile, keyFile = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	if err := certstest.NewAuthority("test").ForAddress("127.0.0.1").Write(certFile, keyFile); err != nil {
		t.Fatal(err)
	}
	return certFile, keyFile
}

func TestClientCA(t *testing.T) {
	cert, key := writePair(t)
	good := filepath.Join(t.TempDir(), "ca.pem")
	write(t, good, string(certstest.NewAuthority("clients").PEM))
	for file, want := range map[string]string{
		good:       "",
		"none.pem": `HOLDFAST_CLIENT_CA_FILE: "none.pem" can't be used: no such file or directory`,
		key:        `HOLDFAST_CLIENT_CA_FILE: "` + key + `" can't be used: part 1 is a PRIVATE KEY, not a CERTIFICATE`,
	} {
		in := withTLS(cert, key)
		in.env = append(in.env, "HOLDFAST_CLIENT_CA_FILE="+file)
		s, err := in.load(t)
		if want == "" && (err != nil || s.Server.ClientCAFile != file) {
			t.Errorf("%s: %v, %+v", file, err, s.Server)
		}
		if want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: got %v, want %s", file, err, want)
		}
	}
}

// What the server trusts beside the system's authorities is looked at when it starts.
func TestRepositoriesCA(t *testing.T) {
	in := inputs{env: []string{"HOLDFAST_REPOSITORIES_CA_FILE=none.pem"}}
	want := `HOLDFAST_REPOSITORIES_CA_FILE: "none.pem" can't be used: no such file or directory`
	if _, err := in.load(t); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
