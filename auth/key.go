package auth

import (
	"crypto/rand"
	"math/big"
	"regexp"
	"strings"

	"github.com/google/uuid"
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

// HoldsKey reports whether a key in the clear stands anywhere in text.
func HoldsKey(text string) bool {
	return strings.Contains(text, keyPrefix) && keyForm.MatchString(text)
}

// MaxKeyLength is what bcrypt looks at, in bytes. It ignores the rest, so a longer key
// must never reach it.
const MaxKeyLength = 72

// NewKey returns a new random key for the organization, to be shown once.
func NewKey(org uuid.UUID) string {
	var secret [32]byte
	rand.Read(secret[:]) // never fails: it ends the program instead
	return keyPrefix + toBase62(org[:], orgDigits) + "_" + toBase62(secret[:], secretDigits)
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

const base62Digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// toBase62 writes the bytes, as one big-endian number, in exactly width digits. The
// caller chooses a width that holds them.
func toBase62(b []byte, width int) string {
	n, base, digit := new(big.Int).SetBytes(b), big.NewInt(62), new(big.Int)
	out := make([]byte, width)
	for i := width - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		out[i] = base62Digits[digit.Int64()]
	}
	return string(out)
}

// fromBase62 is the inverse: it fills into, and reports false for a text with other
// characters or for a number that doesn't fit.
func fromBase62(text string, into []byte) bool {
	n, base := new(big.Int), big.NewInt(62)
	for i := range len(text) {
		digit := strings.IndexByte(base62Digits, text[i])
		if digit < 0 {
			return false
		}
		n.Add(n.Mul(n, base), big.NewInt(int64(digit)))
	}
	if n.BitLen() > 8*len(into) {
		return false
	}
	n.FillBytes(into)
	return true
}

// onlyOf reports whether all of text is out of an alphabet of ASCII.
func onlyOf(text, alphabet string) bool { return strings.Trim(text, alphabet) == "" }
