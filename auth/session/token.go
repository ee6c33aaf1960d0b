package session

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/google/uuid"
)

// A token is "hfs_" and, in base64url without padding, the organization's UUID, 32 random bytes, and
// the first half of the HMAC-SHA256 of both. The HMAC keeps out what no server has made: strangers
// who make tokens up have nothing looked up for them.
const (
	tokenPrefix = "hfs_"
	orgLength   = 16
	signed      = orgLength + 32
	macLength   = sha256.Size / 2
	rawLength   = signed + macLength
)

// The purposes that keep keys apart which come of the same secret.
const (
	tokenPurpose = "holdfast session token, format 1"
	flowPurpose  = "holdfast sign-in flow, format 1"
)

// SecretLength is how many random bytes a Signer needs.
const SecretLength = 32

// Signer makes tokens and knows its own. It is safe for concurrent use.
type Signer struct{ token, flow []byte }

// NewSigner returns a signer with a secret: servers with the same one accept each other's sessions.
func NewSigner(secret [SecretLength]byte) *Signer {
	return &Signer{mac(secret[:], []byte(tokenPurpose)), mac(secret[:], []byte(flowPurpose))}
}

// newToken returns a token that nobody has had before.
func (s *Signer) newToken(org uuid.UUID) string {
	raw := make([]byte, signed, rawLength)
	copy(raw, org[:])
	rand.Read(raw[orgLength:]) // never fails: it ends the program instead
	raw = append(raw, mac(s.token, raw)[:macLength]...)
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(raw)
}

// read returns whose a token is, and what is kept of it; false for one that no server has made.
func (s *Signer) read(token string) (org uuid.UUID, h Hash, ok bool) {
	text, ok := strings.CutPrefix(token, tokenPrefix)
	if !ok || len(text) != base64.RawURLEncoding.EncodedLen(rawLength) {
		return uuid.Nil, Hash{}, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || !hmac.Equal(raw[signed:], mac(s.token, raw[:signed])[:macLength]) {
		return uuid.Nil, Hash{}, false
	}
	return uuid.UUID(raw[:orgLength]), hashOf(token), true
}

// hashOf needs no salt and no work: a token has 256 random bits.
func hashOf(token string) Hash { return sha256.Sum256([]byte(token)) }

func mac(key, of []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(of)
	return h.Sum(nil)
}
