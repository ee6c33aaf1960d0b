package plantest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// The credentials of every Backend, so that a test can look for them.
const (
	Username = "backend-user-4711"
	Password = "backend-password-0815"
)

// Backend keeps one state, in memory, for whoever has the credentials. It locks nothing.
type Backend struct {
	URL string

	mu    sync.Mutex
	state []byte
}

func newBackend(t testing.TB) *Backend {
	b := &Backend{}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	b.URL = server.URL + "/state/of-this-test"
	return b
}

// State is what was written last, nil if nothing was.
func (b *Backend) State() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state
}

// ServeHTTP is the http backend's protocol.
func (b *Backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if user, password, _ := r.BasicAuth(); user != Username || password != Password {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case r.Method == http.MethodPost:
		b.state = body
	case r.Method == http.MethodGet && b.state == nil:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodGet:
		w.Write(b.state)
	}
}

func (b *Backend) environment() map[string]string {
	return map[string]string{"TF_HTTP_ADDRESS": b.URL, "TF_HTTP_LOCK_ADDRESS": b.URL, "TF_HTTP_UNLOCK_ADDRESS": b.URL,
		"TF_HTTP_USERNAME": Username, "TF_HTTP_PASSWORD": Password}
}

// Edit replaces the state with what edit makes of it.
func (b *Backend) Edit(edit func(state string) string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state = []byte(edit(string(b.state)))
}
