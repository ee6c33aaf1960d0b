package main

import (
	"crypto/ed25519"
	"os"
	"path/filepath"

	"github.com/holdfast/holdfast/internal/signingkey"
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
	return signingkey.Open(path)
}
