// Package oidctest is an issuer of tokens for tests: a real HTTP server with discovery, a
// key set, and keys that can be rotated.
package oidctest

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Claims are a token's, by name.
type Claims map[string]any

// Issuer signs tokens and serves the keys to check them with, on an address of 127.0.0.1.
// It is safe for concurrent use.
type Issuer struct {
	URL    string
	Server *httptest.Server

	mu      sync.Mutex
	keys    []Key
	fetches int
	header  http.Header
	instead http.HandlerFunc
	person  Claims
	flows   map[string]flow // by code
}

// New starts an issuer over HTTP, which ends with the test. It has no keys yet.
func New(t testing.TB) *Issuer {
	t.Helper()
	i := &Issuer{header: make(http.Header)}
	i.Server = httptest.NewServer(i)
	i.URL = i.Server.URL
	t.Cleanup(i.Server.Close)
	return i
}

// NewTLS is New with a certificate that only i.Server.Client() trusts.
func NewTLS(t testing.TB) *Issuer {
	t.Helper()
	i := &Issuer{header: make(http.Header)}
	i.Server = httptest.NewTLSServer(i)
	i.URL = i.Server.URL
	t.Cleanup(i.Server.Close)
	return i
}

// Add makes the issuer sign with one more key, and list it.
func (i *Issuer) Add(t testing.TB, id string, algorithm jose.SignatureAlgorithm) Key {
	t.Helper()
	key := NewKey(t, id, algorithm)
	i.List(key)
	return key
}

// List makes the issuer list a key, whoever made it.
func (i *Issuer) List(keys ...Key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = append(i.keys, keys...)
}

// Retire takes the keys with this ID out of the list.
func (i *Issuer) Retire(id string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = slices.DeleteFunc(i.keys, func(k Key) bool { return k.ID == id })
}

// Instead makes another handler answer; nil puts the issuer back to work.
func (i *Issuer) Instead(answer http.HandlerFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.instead = answer
}

// SetHeader makes every answer carry a header.
func (i *Issuer) SetHeader(name, value string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.header.Set(name, value)
}

// Fetches returns how often discovery, the first of a fetch's two requests, was asked for.
func (i *Issuer) Fetches() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetches
}

// ServeHTTP answers what clients of an issuer ask for.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	if r.URL.Path == "/.well-known/openid-configuration" {
		i.fetches++
	}
	instead := i.instead
	maps.Copy(w.Header(), i.header)
	i.mu.Unlock()
	if instead != nil {
		instead(w, r)
		return
	}
	i.Answer(w, r)
}

// Answer is ServeHTTP without what Instead put in its place.
func (i *Issuer) Answer(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		_ = json.NewEncoder(w).Encode(map[string]string{
			"issuer": i.URL, "jwks_uri": i.URL + "/jwks",
			"authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token",
		})
	case "/authorize":
		i.authorize(w, r)
	case "/token":
		i.token(w, r)
	case "/jwks":
		var set jose.JSONWebKeySet
		for _, k := range i.keys {
			set.Keys = append(set.Keys, k.Public())
		}
		_ = json.NewEncoder(w).Encode(set)
	default:
		http.NotFound(w, r)
	}
}

// Claims returns what a good token for an audience says at a time: it is good for ten
// minutes.
func (i *Issuer) Claims(audience string, now time.Time) Claims {
	return Claims{
		"iss": i.URL, "aud": audience, "sub": "repo:acme/infra:ref:refs/heads/main",
		"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(10 * time.Minute).Unix(),
		"repository": "acme/infra", "ref": "refs/heads/main",
	}
}

// With returns the claims with one of them changed; nil takes it out.
func (c Claims) With(name string, value any) Claims {
	changed := maps.Clone(c)
	changed[name] = value
	if value == nil {
		delete(changed, name)
	}
	return changed
}
