// Package keyservicetest has a Transit that answers as HashiCorp Vault and OpenBao do, for tests.
package keyservicetest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// Transit has one key, in whose place newer versions of it come.
type Transit struct {
	Path      string // of the mount and the key, such as transit/encrypt/holdfast with a * for the operation
	Namespace string

	mu       sync.Mutex
	token    string
	versions []cipher.AEAD
	status   int // of all answers; 0 answers
	asked    []string
}

// NewTransit returns one at the mount transit with the key holdfast.
func NewTransit(token string) *Transit {
	t := &Transit{Path: "transit/*/holdfast", token: token}
	t.Rotate()
	return t
}

// Rotate makes a newer version of the key.
func (t *Transit) Rotate() {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := make([]byte, 32)
	_, _ = rand.Read(key)          // never fails
	block, _ := aes.NewCipher(key) // fails for other lengths
	aead, _ := cipher.NewGCM(block)
	t.versions = append(t.versions, aead)
}

// Take has it accept another token from now on.
func (t *Transit) Take(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.token = token
}

// Fail has it answer everything with a status; 0 answers again.
func (t *Transit) Fail(status int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.status = status
}

// Asked returns the operations that it was asked for.
func (t *Transit) Asked() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.asked...)
}

// ServeHTTP implements http.Handler.
func (t *Transit) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, behind, _ := strings.Cut("/v1/"+t.Path, "*")
	operation, found := strings.CutPrefix(r.URL.Path, before)
	operation, same := strings.CutSuffix(operation, behind)
	t.asked = append(t.asked, operation)
	body, _ := io.ReadAll(r.Body)
	var in struct{ Plaintext, Ciphertext string }
	switch {
	case t.status != 0:
		fail(w, t.status, "Vault is sealed")
	case r.Header.Get("X-Vault-Token") != t.token || r.Header.Get("X-Vault-Namespace") != t.Namespace:
		fail(w, http.StatusForbidden, "permission denied")
	case !found || !same:
		fail(w, http.StatusNotFound)
	case r.Method != http.MethodPost && r.Method != http.MethodPut:
		fail(w, http.StatusMethodNotAllowed, "unsupported operation")
	case json.Unmarshal(body, &in) != nil:
		fail(w, http.StatusBadRequest, "failed to parse JSON input")
	default:
		t.answer(w, operation, in.Plaintext, in.Ciphertext)
	}
}

func (t *Transit) answer(w http.ResponseWriter, operation, plaintext, ciphertext string) {
	var err error
	data := map[string]any{}
	if operation != "encrypt" {
		plaintext, err = t.decrypt(ciphertext)
	} else if _, bad := base64.StdEncoding.DecodeString(plaintext); bad != nil || plaintext == "" {
		err = fmt.Errorf("invalid request: failed to base64-decode plaintext")
	}
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	if operation == "decrypt" {
		data["plaintext"] = plaintext
	} else {
		data["ciphertext"], data["key_version"] = t.encrypt(plaintext), len(t.versions)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"request_id": "0d9b", "lease_id": "", "renewable": false,
		"lease_duration": 0, "data": data, "wrap_info": nil, "warnings": nil, "auth": nil})
}

func (t *Transit) encrypt(plaintext string) string {
	raw, _ := base64.StdEncoding.DecodeString(plaintext)
	aead := t.versions[len(t.versions)-1]
	nonce := make([]byte, aead.NonceSize())
	_, _ = rand.Read(nonce)
	sealed := base64.StdEncoding.EncodeToString(aead.Seal(nonce, nonce, raw, nil))
	return fmt.Sprintf("vault:v%d:%s", len(t.versions), sealed)
}

func (t *Transit) decrypt(ciphertext string) (string, error) {
	parts := strings.SplitN(ciphertext, ":", 3)
	if len(parts) != 3 || parts[0] != "vault" {
		return "", fmt.Errorf("invalid ciphertext: no prefix")
	}
	version, err := strconv.Atoi(strings.TrimPrefix(parts[1], "v"))
	raw, bad := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || bad != nil || version < 1 || version > len(t.versions) || len(raw) < 12 {
		return "", fmt.Errorf("invalid ciphertext: could not decode")
	}
	aead := t.versions[version-1]
	plain, err := aead.Open(nil, raw[:aead.NonceSize()], raw[aead.NonceSize():], nil)
	if err != nil {
		return "", fmt.Errorf("cipher: message authentication failed")
	}
	return base64.StdEncoding.EncodeToString(plain), nil
}

func fail(w http.ResponseWriter, status int, said ...string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"errors": append([]string{}, said...)})
}
