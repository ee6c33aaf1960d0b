package sqlite_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/internal/keyservice/keyservicetest"
	"github.com/holdfast/holdfast/seal"
)

// keeper wraps as a service does.
type keeper struct {
	name string
	wrap func(key []byte) (string, error)

	unwrap func(service, wrapped string) ([]byte, error)
}

func (k keeper) Name() string                                       { return k.name }
func (k keeper) Wrap(_ context.Context, key []byte) (string, error) { return k.wrap(key) }

// Unwrap is asked by who makes a file, to see that it can be read.
func (k keeper) Unwrap(_ context.Context, wrapped string) ([]byte, error) {
	return k.unwrap(k.name, wrapped)
}

func (k keeper) Rewrap(context.Context, string) (string, error) { return "", errors.New("nobody asks") }

// transit asks a Transit, as its documentation says.
func transit(t *testing.T, url, operation, field, value, answer string) (string, error) {
	t.Helper()
	body, _ := json.Marshal(map[string]string{field: value})
	request, err := http.NewRequest(http.MethodPost, url+"/v1/transit/"+operation+"/holdfast", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("X-Vault-Token", "s.one")
	said, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer said.Body.Close()
	var found struct {
		Data map[string]any `json:"data"`
	}
	if err := json.NewDecoder(said.Body).Decode(&found); err != nil {
		return "", err
	}
	text, _ := found.Data[answer].(string)
	return text, nil
}

// TestDecryptorOfWrappedKeys reads master key files that services have wrapped, and keys of the environment, by
// docs/security.md alone.
func TestDecryptorOfWrappedKeys(t *testing.T) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	vault := httptest.NewServer(keyservicetest.NewTransit("s.one"))
	t.Cleanup(vault.Close)
	unwrap := func(service, wrapped string) ([]byte, error) {
		if service == "azure" {
			_, text, _ := strings.Cut(wrapped, ".")
			sealed, err := base64.RawURLEncoding.DecodeString(text)
			if err != nil {
				return nil, err
			}
			return rsa.DecryptOAEP(sha256.New(), nil, private, sealed, nil)
		}
		plain, err := transit(t, vault.URL, "decrypt", "ciphertext", wrapped, "plaintext")
		if err != nil {
			return nil, err
		}
		return base64.StdEncoding.DecodeString(plain)
	}
	services := []keeper{
		{"azure", func(key []byte) (string, error) {
			sealed, err := rsa.EncryptOAEP(sha256.New(), rand.Reader, &private.PublicKey, key, nil)
			return "0a1b2c." + base64.RawURLEncoding.EncodeToString(sealed), err
		}, unwrap},
		{"transit", func(key []byte) (string, error) {
			return transit(t, vault.URL, "encrypt", "plaintext", base64.StdEncoding.EncodeToString(key), "ciphertext")
		}, unwrap},
	}
	for _, service := range services {
		path := filepath.Join(t.TempDir(), "master.key")
		if err := (seal.Source{Path: path, Keeper: service}).Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		keys, err := wrappedKeys(string(text), unwrap)
		if err != nil || len(keys) != 1 {
			t.Fatalf("%s: %d keys, %v", service.name, len(keys), err)
		}
		if bytes.Contains(text, []byte(hex.EncodeToString(keys[0].key))) {
			t.Errorf("%s: the key is in the file", service.name)
		}
		// What the environment has are the same digits.
		if _, err := (seal.Source{Text: hex.EncodeToString(keys[0].key)}).Read(t.Context()); err != nil {
			t.Errorf("%s: %v", service.name, err)
		}
	}
}
