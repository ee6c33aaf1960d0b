package seal

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/google/uuid"
)

// ErrUnchangeable is of master keys that can't be changed here: they are in no file, or in one that is read-only for
// this process.
var ErrUnchangeable = errors.New("the master keys can't be changed here")

// Forgot says what Forget has done.
type Forgot struct {
	Keys  int // that had not forgotten the organization yet
	Older int // that can't forget, as they wrap the data keys of all organizations
}

// Forget has all keys of the file forget an organization, durably. Who reads the file after that can open none of the
// data keys of the organization that these keys have wrapped, wherever a copy of them is, and all of others. Copies of
// the file are as they were. Its error is ErrUnchangeable where the keys can't be changed.
func (s Source) Forget(ctx context.Context, org uuid.UUID) (done Forgot, err error) {
	if s.Text != "" {
		return Forgot{}, fmt.Errorf("%s: %w", s, ErrUnchangeable)
	}
	err = s.change(ctx, func(lines []masterLine) ([]masterLine, error) {
		done = Forgot{}
		for i, line := range lines {
			key, err := s.keyOf(ctx, line)
			if err == nil {
				lines[i], err = s.without(ctx, line, key, org, &done)
			}
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", line.number, err)
			}
		}
		if done.Keys == 0 {
			return nil, nil
		}
		return lines, nil
	})
	return done, err
}

// without returns a key's line once it has forgotten an organization. A line gets a new key, under which what is left
// of the old one is sealed.
func (s Source) without(ctx context.Context, was masterLine, key masterKey, org uuid.UUID,
	done *Forgot) (masterLine, error) {
	switch {
	case key.whole != nil:
		done.Older++
		return was, nil
	case !key.knows(org):
		return was, nil
	}
	done.Keys++
	key.orgs = key.orgs.without(org)
	line := lineOf(key)
	line.number, line.before = was.number, was.before
	return s.rewrapped(ctx, line)
}

// unchangeable reports whether an error of the system says that a file can't be replaced by this process, however often
// it tries.
func unchangeable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EBUSY)
}

// keyOf returns a line's key.
func (s Source) keyOf(ctx context.Context, line masterLine) (masterKey, error) {
	raw, err := s.unwrapped(ctx, line)
	switch {
	case err != nil:
		return masterKey{}, err
	case line.tree != "":
		return openTree(raw, line.tree)
	}
	return olderKey(raw), nil
}

// What is in front of the branches.
const treeHead = len(keyID{}) + keySize

// sealTree encrypts what there is of a key, under that of its line: so a keeper wraps no more than that.
func sealTree(by [keySize]byte, key masterKey) string {
	plain := append(append(key.id[:], key.mark[:]...), key.orgs.bytes()...)
	nonce := newNonce()
	sealed := newXAES(derivedKey(by, forBranches)).seal(nonce, nonce, plain, nil)
	return base64.RawURLEncoding.EncodeToString(sealed)
}

// openTree undoes sealTree. Its errors tell nothing of keys.
func openTree(by [keySize]byte, text string) (key masterKey, err error) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(sealed) < nonceSize+tagSize {
		return key, errors.New("what is behind the check digits is damaged")
	}
	plain, err := newXAES(derivedKey(by, forBranches)).open(sealed[:nonceSize], sealed[nonceSize:], nil)
	if err != nil || len(plain) < treeHead {
		return key, errors.New("what is behind the check digits does not belong to the key, or is damaged")
	}
	key.id, key.mark = keyID(plain), [keySize]byte(plain[len(key.id):])
	key.orgs, err = readTree(plain[treeHead:])
	return key, err
}
