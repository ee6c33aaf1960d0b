package outbound

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast/holdfast/internal/certs/certstest"
)

// A file of authorities counts beside the system's, and wrong ones are said to be so.
func TestRoots(t *testing.T) {
	there := httptest.NewTLSServer(http.NotFoundHandler())
	defer there.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	write(t, file, certstest.PEM(there.Certificate()))
	for ca, trusted := range map[string]bool{"": false, file: true} {
		roots, err := Roots(ca)
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Transport: Transport([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, roots)}
		response, err := client.Get(there.URL)
		if err == nil {
			response.Body.Close()
		}
		client.CloseIdleConnections()
		if (err == nil) != trusted {
			t.Errorf("with %q: %v", ca, err)
		}
	}
	write(t, file, []byte("nothing"))
	if _, err := Roots(file); err == nil {
		t.Error("a file without a certificate is taken")
	}
}

// Other programs get what this process trusts: SSL_CERT_FILE and SSL_CERT_DIR are no variables of git's.
func TestBundle(t *testing.T) {
	for _, name := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR"} {
		t.Setenv(name, "")
	}
	if all, err := Bundle(""); err != nil || all != nil || Widened("") {
		t.Errorf("of the system's alone there are %d bytes, %v", len(all), err)
	}
	folder, own := t.TempDir(), certstest.NewAuthority("own").PEM
	system, more := certstest.NewAuthority("system").PEM, certstest.NewAuthority("more").PEM
	for name, text := range map[string][]byte{"system.pem": system, "own.pem": own, "more/a.pem": more} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, name), text)
	}
	t.Setenv("SSL_CERT_FILE", filepath.Join(folder, "system.pem"))
	if all, err := Bundle(""); err != nil || !bytes.Equal(all, system) {
		t.Errorf("SSL_CERT_FILE: %s, %v", all, err)
	}
	t.Setenv("SSL_CERT_DIR", filepath.Join(folder, "more"))
	all, err := Bundle(filepath.Join(folder, "own.pem"))
	if err != nil || !bytes.Equal(all, bytes.Join([][]byte{system, more, own}, nil)) {
		t.Errorf("all of them: %s, %v", all, err)
	}
	t.Setenv("SSL_CERT_FILE", filepath.Join(folder, "none"))
	t.Setenv("SSL_CERT_DIR", "")
	if _, err := Bundle(""); err == nil {
		t.Error("that SSL_CERT_FILE has nothing is not said")
	}
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
