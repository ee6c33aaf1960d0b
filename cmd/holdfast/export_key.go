package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/holdfast/holdfast/internal/durable"
)

// signingKey returns the key that exports are signed with. It is made at first use, for its owner alone; one
// that others may read is refused.
func (a *app) signingKey(path string) (ed25519.PrivateKey, error) {
	if path == "" {
		dir := a.getenv("XDG_CONFIG_HOME")
		if dir == "" {
			home := a.getenv("HOME")
			if home == "" {
				return nil, usagef("--signing-key is needed: there is no HOME to keep one in")
			}
			dir = filepath.Join(home, ".config")
		}
		path = filepath.Join(dir, "holdfast", "export-key.pem")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
	}
	key, err := readSigningKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := makeSigningKey(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return readSigningKey(path)
}

func makeSigningKey(path string) error {
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

func readSigningKey(path string) (ed25519.PrivateKey, error) {
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
