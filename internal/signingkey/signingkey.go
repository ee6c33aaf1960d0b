// Package signingkey keeps an Ed25519 key in a file.
package signingkey

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/holdfast/holdfast/internal/durable"
)

// Open returns the key of a file, in PEM, and makes it if there is none, for its owner alone. A file that others
// may read is refused.
func Open(path string) (ed25519.PrivateKey, error) {
	key, err := read(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := create(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return read(path)
}

func create(path string) error {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	text, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return durable.CreateNew(path, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text})))
}

func read(path string) (ed25519.PrivateKey, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		return nil, fmt.Errorf("%s may be read by others: chmod 600 it, if nobody has", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s is no private key", path)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("%s is no Ed25519 key", path)
	}
	return key, nil
}

// Fingerprint is what a key is called: the SHA-256 of the public one.
func Fingerprint(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:])
}
