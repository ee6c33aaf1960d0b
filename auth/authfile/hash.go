package authfile

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"golang.org/x/crypto/bcrypt"
)

// The bcrypt costs that are accepted. A cheaper hash is too quick to guess; one check at
// a higher cost would hold a core for seconds.
const (
	minCost = 10
	maxCost = 16
)

const (
	hashLength   = 60 // "$2a$10$", 22 characters of salt, 31 of hash
	hashPrefix   = len("$2a$10$")
	bcryptDigits = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
)

// hashCost is the bcrypt cost of new keys. A secret of 256 bits can't be guessed at any
// cost; this one keeps a check at about 50 ms of a core.
const hashCost = 10

// HashKey returns the bcrypt hash under which the key is stored. It takes about 50 ms and
// fails only for a key that no key of ours looks like.
func HashKey(key string) (string, error) {
	hash, err := bcrypt.GenerateFromPassword([]byte(key), hashCost)
	return string(hash), err
}

// readHash returns the cost of a bcrypt hash, or what is wrong with the text. The problem
// doesn't quote the text, which may be a key in the clear.
func readHash(text string) (cost int, problem string) {
	if !strings.HasPrefix(text, "$2") {
		return 0, "not a bcrypt hash; only a key's hash may stand here: `holdfast key add` makes a key and stores its hash"
	}
	if !isHash(text) {
		return 0, "a damaged bcrypt hash: it has 60 characters and starts with $2a$, $2b$ or $2y$"
	}
	cost, err := bcrypt.Cost([]byte(text))
	switch {
	case err != nil:
		return 0, "a damaged bcrypt hash: its cost is not a number from 10 to 16"
	case cost < minCost:
		return 0, "the bcrypt cost is below 10, which is too quick to guess; add a new key"
	case cost > maxCost:
		return 0, "the bcrypt cost is above 16: one check would take many seconds; add a new key"
	}
	return cost, ""
}

func isHash(text string) bool {
	return len(text) == hashLength &&
		strings.ContainsRune("aby", rune(text[2])) && text[3] == '$' &&
		isDigit(text[4]) && isDigit(text[5]) && text[6] == '$' &&
		onlyOf(text[hashPrefix:], bcryptDigits)
}

// withoutVersion returns what two hashes have in common when a key that is good for one is
// good for the other: $2a$, $2b$ and $2y$ tell who wrote a hash, not how.
func withoutVersion(hash string) string { return hash[len("$2a"):] }

// alphanumerics are the letters and digits of names.
const alphanumerics = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// onlyOf reports whether all of text is out of an alphabet of ASCII.
func onlyOf(text, alphabet string) bool { return strings.Trim(text, alphabet) == "" }

// A key's ID is this many of these digits.
const (
	keyIDLength = 12
	hexDigits   = "0123456789abcdef"
)

// keyID is the name of a key that people use: the first 12 hex digits of the SHA-256 of
// its hash. It gives away neither the key nor the hash.
func keyID(hash string) string {
	sum := sha256.Sum256([]byte(hash))
	return hex.EncodeToString(sum[:keyIDLength/2])
}
