package forge_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/repos/forge"
	"github.com/holdfast/holdfast/repos/forge/forgetest"
)

// An App signs for itself with RS256, and for its installation with a token that it asks for anew shortly
// before the old one ends, or when that is refused.
func TestApp(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	there := forgetest.New(t, forge.GitHub)
	made := 0
	there.Answer = func(w http.ResponseWriter, r *http.Request) bool {
		given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		switch path := strings.TrimPrefix(r.URL.Path, "/api/v3"); path {
		case "/repos/acme/network/installation", "/app", "/app/installations/55/access_tokens":
			checkAssertion(t, &key.PublicKey, given, now)
			switch path {
			case "/app":
				fmt.Fprint(w, `{"slug": "holdfast"}`)
			case "/app/installations/55/access_tokens":
				made++
				w.WriteHeader(http.StatusCreated)
				fmt.Fprintf(w, `{"token": "installation-%d", "expires_at": %q}`, made, now.Add(time.Hour).Format(time.RFC3339))
			default:
				fmt.Fprint(w, `{"id": 55}`)
			}
			return true
		case "/users/holdfast[bot]":
			fmt.Fprint(w, `{"id": 900, "login": "holdfast[bot]"}`)
			return true
		}
		if given != fmt.Sprint("installation-", made) {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"message": "not %s"}`, given)
			return true
		}
		r.Header.Set("Authorization", "Bearer "+forgetest.Token)
		return false
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	f, err := forge.New(forge.Config{Provider: forge.GitHub, API: there.URL, Repository: forgetest.Repository,
		App: &forge.App{ID: "123", Key: string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))},
		Now: func() time.Time { return now }, Transport: http.DefaultTransport})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(tokens int) {
		t.Helper()
		if _, err := f.PullRequest(t.Context(), 7); err != nil || made != tokens {
			t.Fatal(err, made)
		}
	}
	ask(1)
	now = now.Add(54 * time.Minute)
	ask(1)
	now = now.Add(2 * time.Minute) // four minutes before its end
	ask(2)
	made++ // as if GitHub had taken the token back
	if _, err := f.PullRequest(t.Context(), 7); !forge.Is(err, forge.Credentials) ||
		strings.Contains(err.Error(), "installation-2") {
		t.Error(err)
	}
	ask(4)
	if u, err := f.Self(t.Context()); err != nil || u.ID != "900" {
		t.Error(u, err)
	}
}

func checkAssertion(t *testing.T, key *rsa.PublicKey, token string, now time.Time) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("%q is no JWT", token)
	}
	signature, _ := base64.RawURLEncoding.DecodeString(parts[2])
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature); err != nil {
		t.Error(err)
	}
	var claims struct {
		Iss      string
		Iat, Exp int64
	}
	raw, _ := base64.RawURLEncoding.DecodeString(parts[1])
	if err := json.Unmarshal(raw, &claims); err != nil || claims.Iss != "123" || claims.Iat >= now.Unix() ||
		claims.Exp-claims.Iat > 600 {
		t.Errorf("%s, %v", raw, err)
	}
}
