package server

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
)

// Who connects to the OperatorSocket shows what is in a file beside it. To get there proves little: a command of a run
// has the server's own user, and a sandbox without namespaces closes files to it, and no sockets that have a path.

// operatorSecret is where that is.
func operatorSecret(socket string) string { return filepath.Join(filepath.Dir(socket), "secret") }

// makeOperatorSecret writes another one, and returns it.
func makeOperatorSecret(socket string) (string, error) {
	secret, path := rand.Text()+rand.Text(), operatorSecret(socket)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return secret, os.WriteFile(path, []byte(secret), 0o600)
}

// showing refuses who does not show the secret.
func showing(secret string, next http.Handler) http.Handler {
	want := []byte(bearer(secret))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			http.Error(w, "who asks has to show what is in the file beside the socket", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func bearer(secret string) string { return "Bearer " + secret }

// OperatorClient asks the server that answers at an OperatorSocket.
func OperatorClient(socket string) *http.Client {
	return &http.Client{Transport: operatorTransport{operatorSecret(socket), &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
	}}}
}

// operatorTransport shows the secret that is in a file.
type operatorTransport struct {
	secret string
	next   *http.Transport
}

// RoundTrip implements http.RoundTripper. A server of before has no such file, and wants to be shown nothing.
func (t operatorTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	secret, err := os.ReadFile(t.secret)
	if errors.Is(err, fs.ErrNotExist) {
		return t.next.RoundTrip(r)
	}
	if err != nil {
		return nil, fmt.Errorf("what the server that runs here wants to be shown can't be read: %w", err)
	}
	shown := r.Clone(r.Context())
	shown.Header.Set("Authorization", bearer(string(secret)))
	return t.next.RoundTrip(shown)
}

// CloseIdleConnections is for http.Client's.
func (t operatorTransport) CloseIdleConnections() { t.next.CloseIdleConnections() }
