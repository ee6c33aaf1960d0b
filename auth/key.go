package auth

import (
	"crypto/rand"
	"regexp"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/crypto/bcrypt"
)

// A key is "hfk_", the organization's UUID in 22 base-62 digits, "_", and a secret of 256
// bits in 43: 70 bytes, of the 72 that bcrypt looks at. The prefix lets secret scanners
// find a key that leaked: hfk_[0-9A-Za-z]{22}_[0-9A-Za-z]{43}.
const (
	keyPrefix    = "hfk_"
	orgDigits    = 22
	secretDigits = 43
	keyLength    = len(keyPrefix) + orgDigits + 1 + secretDigits
)

var keyForm = regexp.MustCompile(keyPrefix + `[0-9A-Za-z]{22}_[0-9A-Za-z]{43}`)

// holdsKey reports whether a key in the clear stands anywhere in text.
func holdsKey(text string) bool {
	return strings.Contains(text, keyPrefix) && keyForm.MatchString(text)
}

// maxKeyLength is what bcrypt looks at, in bytes. It ignores the rest, so a longer key
// must never reach it.
const maxKeyLength = 72

// hashCost is the bcrypt cost of new keys. A secret of 256 bits can't be guessed at any
// cost; this one keeps a check at about 50 ms of a core.
const hashCost = 10

// NewKey returns a new random key for the organization, to be shown once.
func NewKey(org uuid.UUID) string {
	var secret [32]byte
	rand.Read(secret[:]) // never fails: it ends the program instead
	return keyPrefix + toBase62(org[:], orgDigits) + "_" + toBase62(secret[:], secretDigits)
}

// HashKey returns the bcrypt hash under which the key is stored. It takes about 50 ms and
// fails only for a key that no key of ours looks like.
func HashKey(key string) (string, error) {
	hash, err := bcrypt.GenerateFromPassword([]byte(key), hashCost)
	return string(hash), err
}

// OrgOfKey reads the organization out of a key of the form that NewKey makes; false for
// any other text. It says nothing about whether the key is good.
func OrgOfKey(key string) (uuid.UUID, bool) {
	if len(key) != keyLength || !strings.HasPrefix(key, keyPrefix) {
		return uuid.Nil, false
	}
	digits, secret, ok := strings.Cut(key[len(keyPrefix):], "_")
	if !ok || len(digits) != orgDigits || !onlyOf(secret, base62Digits) {
		return uuid.Nil, false
	}
	var id uuid.UUID
	if !fromBase62(digits, id[:]) || id == uuid.Nil {
		return uuid.Nil, false
	}
	return id, true
}
