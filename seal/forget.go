package seal

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// Forget has all keys of the file forget an organization, durably, and returns how many had not yet. Who reads the
// file after that can open none of the organization's data keys, wherever a copy of them is, and all of others. What
// was wrapped by older versions, in the format 1, can still be opened. Copies of the file are as they were. It fails
// with ErrNoFile where the keys are in no file. One caller at a time.
func (s Source) Forget(ctx context.Context, org uuid.UUID) (forgot int, err error) {
	if s.Text != "" {
		return 0, ErrNoFile
	}
	lines, info, err := s.lines()
	if err != nil {
		return 0, err
	}
	for i, line := range lines {
		key, err := s.keyOf(ctx, line)
		if err != nil {
			return 0, fmt.Errorf("%s, line %d: %w", s, line.number, err)
		}
		if _, known := key.orgs.find(org); !known {
			continue
		}
		key.orgs = key.orgs.without(org)
		if lines[i], err = s.forgettingLine(ctx, line, key); err != nil {
			return 0, fmt.Errorf("%s, line %d: %w", s, line.number, err)
		}
		forgot++
	}
	if forgot == 0 {
		return 0, nil
	}
	return forgot, s.replace(lines, info)
}

// forgettingLine returns the line of a key that has forgotten organizations. It has a new key, under which what is left
// of the old one is sealed, so that a keeper wraps no more of it than of any other.
func (s Source) forgettingLine(ctx context.Context, was masterLine, key masterKey) (masterLine, error) {
	fresh := newKey()
	line := lineOf(fresh, sealRest(fresh, key))
	line.number, line.before = was.number, was.before
	return s.rewrapped(ctx, line)
}

// keyOf returns a line's key.
func (s Source) keyOf(ctx context.Context, line masterLine) (masterKey, error) {
	raw, err := s.unwrapped(ctx, line)
	switch {
	case err != nil:
		return masterKey{}, err
	case line.rest != "":
		return openRest(raw, line.rest)
	}
	return newMasterKey(raw), nil
}

// What is left of a key in front of its tree.
const restHead = len(keyID{}) + 2*keySize

// sealRest encrypts what is left of a key that has forgotten organizations.
func sealRest(by [keySize]byte, key masterKey) string {
	plain := append(append(key.id[:], key.whole[:]...), key.mark[:]...)
	plain = append(plain, key.orgs.bytes()...)
	nonce := newNonce()
	sealed := newXAES(derivedKey(by, forBranches)).seal(nonce, nonce, plain, nil)
	return base64.RawURLEncoding.EncodeToString(sealed)
}

// openRest undoes sealRest. Its errors tell nothing of keys.
func openRest(by [keySize]byte, rest string) (key masterKey, err error) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(rest)
	if err != nil || len(sealed) < nonceSize+tagSize {
		return key, errors.New("what is behind the check digits is damaged")
	}
	plain, err := newXAES(derivedKey(by, forBranches)).open(sealed[:nonceSize], sealed[nonceSize:], nil)
	if err != nil || len(plain) < restHead {
		return key, errors.New("what is behind the check digits does not belong to the key, or is damaged")
	}
	key.id = keyID(plain)
	key.whole, key.mark = [keySize]byte(plain[len(key.id):]), [keySize]byte(plain[len(key.id)+keySize:])
	key.orgs, err = readTree(plain[restHead:])
	return key, err
}
