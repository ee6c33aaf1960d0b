package outbound

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/holdfast/holdfast/internal/certs"
)

// Roots returns what clients of this process trust: the system's authorities and those in a file; nil for the system's
// alone, where there is no file.
func Roots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	more, err := authorities(file)
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, err
	}
	pool.AppendCertsFromPEM(more)
	return pool, nil
}

// Widened reports whether this process trusts others than programs that it starts do by themselves: there is a file, or
// SSL_CERT_FILE or SSL_CERT_DIR is set.
func Widened(file string) bool {
	return file != "" || os.Getenv("SSL_CERT_FILE") != "" || os.Getenv("SSL_CERT_DIR") != ""
}

// Bundle returns in PEM what clients of this process trust, for other programs; nil where that is not Widened.
func Bundle(file string) ([]byte, error) {
	if !Widened(file) {
		return nil, nil
	}
	all := system()
	if file == "" {
		if len(all) == 0 {
			return nil, errors.New("there is no certificate in what SSL_CERT_FILE and SSL_CERT_DIR name")
		}
		return all, nil
	}
	more, err := authorities(file)
	return append(all, more...), err
}

func authorities(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err == nil {
		_, err = certs.ParseAuthorities(text)
	}
	if err != nil {
		return nil, fmt.Errorf("the authorities in %s can't be used: %w", file, err)
	}
	return append(bytes.TrimSpace(text), '\n'), nil
}

// system returns the files that crypto/x509 reads: the first one that there is, or SSL_CERT_FILE; and all in
// SSL_CERT_DIR.
func system() (all []byte) {
	files := []string{
		"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
		"/etc/pki/tls/cacert.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
	}
	if file := os.Getenv("SSL_CERT_FILE"); file != "" {
		files = []string{file}
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			all = append(bytes.TrimSpace(text), '\n')
			break
		}
	}
	for _, folder := range filepath.SplitList(os.Getenv("SSL_CERT_DIR")) {
		entries, _ := os.ReadDir(folder)
		for _, entry := range entries {
			if text, err := os.ReadFile(filepath.Join(folder, entry.Name())); err == nil {
				all = append(all, append(bytes.TrimSpace(text), '\n')...)
			}
		}
	}
	return all
}
