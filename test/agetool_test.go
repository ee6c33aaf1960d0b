//go:build e2e

package test

import (
	"fmt"
	"io"
	"os"

	"filippo.io/age"
)

// makeAgeKey is as much of age-keygen as pages call: age-keygen -o FILE.
func makeAgeKey() {
	identity, err := age.GenerateX25519Identity()
	if err == nil {
		text := fmt.Sprintf("# public key: %s\n%s\n", identity.Recipient(), identity)
		err = os.WriteFile(os.Args[2], []byte(text), 0o600)
	}
	exitWith(err)
}

// decryptAge is as much of age as pages call: age -d -i IDENTITY FILE.
func decryptAge() {
	exitWith(func() error {
		key, err := os.Open(os.Args[3])
		if err != nil {
			return err
		}
		identities, err := age.ParseIdentities(key)
		if err != nil {
			return err
		}
		file, err := os.Open(os.Args[4])
		if err != nil {
			return err
		}
		plain, err := age.Decrypt(file, identities...)
		if err == nil {
			_, err = io.Copy(os.Stdout, plain)
		}
		return err
	}())
}

func exitWith(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
