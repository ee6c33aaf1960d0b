package keyservice

import (
	"bytes"
	"context"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/internal/keyservice/keyservicetest"
	"github.com/holdfast/holdfast/seal"
)

func noEnv(string) string { return "" }

func unhurried(context.Context, time.Duration) error { return nil }

// served starts a service over TLS, and returns its address and the file of its certificate.
func served(t *testing.T, h http.Handler) (at, caFile string) {
	t.Helper()
	s := httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
	caFile = filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(caFile, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return s.URL, caFile
}

func writeToken(t *testing.T, path, token string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// transitAt returns a client of a Transit, with the file of its token.
func transitAt(t *testing.T, fake *keyservicetest.Transit) (k *transit, tokenFile string) {
	t.Helper()
	at, ca := served(t, fake)
	tokenFile = filepath.Join(t.TempDir(), "token")
	writeToken(t, tokenFile, "s.one")
	made, err := New(Options{Service: Transit, Key: "transit/holdfast", Address: at + "/", TokenFile: tokenFile,
		CAFile: ca, Namespace: fake.Namespace, Getenv: noEnv})
	if err != nil {
		t.Fatal(err)
	}
	k = made.(*transit)
	k.pause = unhurried
	return k, tokenFile
}

func TestTransit(t *testing.T) {
	fake := keyservicetest.NewTransit("s.one")
	fake.Namespace = "team/a"
	k, tokenFile := transitAt(t, fake)
	key := bytes.Repeat([]byte{7}, 32)
	wrapped, err := k.Wrap(t.Context(), key)
	if err != nil || !strings.HasPrefix(wrapped, "vault:v1:") {
		t.Fatalf("%q, %v", wrapped, err)
	}
	fake.Rotate()
	fake.Take("s.two")
	if _, err := k.Unwrap(t.Context(), wrapped); err == nil || !strings.Contains(err.Error(), "403: permission denied") {
		t.Errorf("with a token that has ended: %v", err)
	}
	writeToken(t, tokenFile, "s.two")
	again, err := k.Rewrap(t.Context(), wrapped)
	if err != nil || !strings.HasPrefix(again, "vault:v2:") {
		t.Fatalf("%q, %v", again, err)
	}
	for _, one := range []string{wrapped, again} {
		if got, err := k.Unwrap(t.Context(), one); err != nil || !bytes.Equal(got, key) {
			t.Errorf("%x, %v", got, err)
		}
	}
	asked := len(fake.Asked())
	_, err = k.Unwrap(t.Context(), again[:len(again)-8]+"AAAAAAA=")
	if err == nil || !strings.Contains(err.Error(), "authentication failed") || len(fake.Asked()) != asked+1 {
		t.Errorf("something damaged: %v after %v", err, fake.Asked()[asked:])
	}
}

// TestTransitLater: one that is sealed or gone is asked again, for a while, and the error says who it was.
func TestTransitLater(t *testing.T) {
	fake := keyservicetest.NewTransit("s.one")
	k, tokenFile := transitAt(t, fake)
	fake.Fail(http.StatusServiceUnavailable)
	_, err := k.Wrap(t.Context(), []byte("key"))
	if err == nil || !strings.Contains(err.Error(), "503: Vault is sealed") || len(fake.Asked()) != tries {
		t.Errorf("%v after %d tries", err, len(fake.Asked()))
	}
	waited := 0
	k.pause = func(context.Context, time.Duration) error {
		if waited++; waited == 2 {
			fake.Fail(0)
		}
		return nil
	}
	if _, err := k.Wrap(t.Context(), []byte("key")); err != nil || waited != 2 {
		t.Errorf("%v after %d pauses", err, waited)
	}
	for name, token := range map[string]string{"no token": "", "two lines": "a\nb"} {
		writeToken(t, tokenFile, token)
		if _, err := k.Wrap(t.Context(), []byte("key")); err == nil || !strings.Contains(err.Error(), "not one line") {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.Wrap(ctx, nil); err == nil {
		t.Error("somebody who has left is served")
	}
}

// TestRedirects are not followed: the token and the key would go along.
func TestRedirects(t *testing.T) {
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	at, ca := served(t, http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	k, err := New(Options{Service: Transit, Key: "a/b/c", Address: at, CAFile: ca,
		Getenv: func(name string) string { return map[string]string{"VAULT_TOKEN": "t"}[name] }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Wrap(t.Context(), []byte("key")); err == nil || elsewhere > 0 {
		t.Errorf("%v, and %d requests elsewhere", err, elsewhere)
	}
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]Options{
		"no key":           {Service: Transit, Address: "https://a"},
		"no mount":         {Service: Transit, Key: "holdfast", Address: "https://a"},
		"no address":       {Service: Transit, Key: "transit/holdfast"},
		"no such address":  {Service: Transit, Key: "transit/holdfast", Address: "vault:8200"},
		"no certificate":   {Service: Transit, Key: "transit/holdfast", Address: "https://a", CAFile: "service.go"},
		"no region":        {Service: AWS, Key: "alias/holdfast"},
		"no resource":      {Service: Google, Key: "holdfast"},
		"no key's address": {Service: Azure, Key: "https://a.vault.azure.net/secrets/x"},
		"without TLS":      {Service: Azure, Key: "http://a.vault.azure.net/keys/x"},
		"no such service":  {Service: "x", Key: "k"},
	} {
		o.Getenv = noEnv
		if k, err := New(o); err == nil {
			t.Errorf("%s: %v", name, k)
		}
	}
}

var _ seal.Keeper = (*transit)(nil)
