// Package gittest serves git repositories to tests, with the real git http-backend behind a server on loopback.
package gittest

import (
	"encoding/pem"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Server serves repositories over TLS.
type Server struct {
	// CAFile has the certificate that signs the server's.
	CAFile string
	// Root is the folder that has the repositories.
	Root string

	url      string
	mu       sync.Mutex
	user     string
	token    string
	before   func(http.ResponseWriter, *http.Request) bool
	requests []string
	fetches  int
}

// New starts a server that is gone with the test. It skips the test where there is no git.
func New(t testing.TB) *Server {
	t.Helper()
	exec, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Skip("there is no git")
	}
	backend := filepath.Join(strings.TrimSpace(string(exec)), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		t.Skip("there is no git http-backend")
	}
	s := &Server{Root: t.TempDir()}
	// Nothing of the test's own environment makes a difference.
	handler := &cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + s.Root, "GIT_HTTP_EXPORT_ALL=1",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=" + s.Root, "GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		"GIT_CONFIG_KEY_1=uploadpack.allowAnySHA1InWant", "GIT_CONFIG_VALUE_1=true"}, Stderr: discard{}}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.pass(w, r) {
			handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	s.CAFile = filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(s.CAFile, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// URL returns the address of a repository, or of the server for the empty name.
func (s *Server) URL(name string) string {
	if name == "" {
		return s.url
	}
	return s.url + "/" + name + ".git"
}

// Require has the server want a user and a token from now on; none for the empty token.
func (s *Server) Require(user, token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.user, s.token = user, token
}

// Before has a function see each request first. It says whether git answers it.
func (s *Server) Before(look func(http.ResponseWriter, *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = look
}

// Requests returns what was asked, as "METHOD path?query".
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

// Fetches returns how many times somebody began to fetch or to list.
func (s *Server) Fetches() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fetches
}

func (s *Server) pass(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	user, token, before := s.user, s.token, s.before
	s.requests = append(s.requests, r.Method+" "+r.URL.String())
	gotUser, gotToken, _ := r.BasicAuth()
	good := token == "" || gotToken == token && (user == "" || gotUser == user)
	if good && strings.HasSuffix(r.URL.Path, "/info/refs") {
		s.fetches++
	}
	s.mu.Unlock()
	if !good {
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		http.Error(w, "log in", http.StatusUnauthorized)
		return false
	}
	return before == nil || before(w, r)
}
