package verify

import (
	"crypto/hmac"
	"encoding/binary"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
)

// tag stands for an organization and a key: their SHA-256 behind a random key of this
// process. Neither can be found from it.
type tag [32]byte

// match is a key that was found good.
type match struct {
	orgName    string
	limits     auth.Limits
	key        keyring.StoredKey
	generation uint64 // of the keyring that it was last found in
}

// verified remembers good keys, bounded in number. For a time they need no other check;
// after that they are still known for keys that were good. It is safe for concurrent use.
type verified struct {
	entries *lru.Cache[uint64, verifiedKey]
	keep    time.Duration
	now     func() time.Time
}

type verifiedKey struct {
	tag   tag
	match match
	until time.Time
}

func newVerified(number int, keep time.Duration, now func() time.Time) (*verified, error) {
	entries, err := lru.New[uint64, verifiedKey](number)
	return &verified{entries, keep, now}, err
}

// get returns the match for t, if one was found in the keyring of this generation and not
// too long ago.
func (c *verified) get(t tag, generation uint64) (match, bool) {
	e, ok := c.entry(t)
	if !ok || e.match.generation != generation {
		return match{}, false
	}
	return e.match, c.now().Before(e.until)
}

// hash returns the hash that t was good for, however long ago. Whether it still counts
// for anything is up to the keyring in force.
func (c *verified) hash(t tag) (string, bool) {
	e, ok := c.entry(t)
	return e.match.key.Hash, ok
}

func (c *verified) entry(t tag) (verifiedKey, bool) {
	e, ok := c.entries.Get(t.slot())
	// Only a part of the tag selects the entry; all of it is compared, in constant time.
	if !ok || !hmac.Equal(e.tag[:], t[:]) {
		return verifiedKey{}, false
	}
	return e, true
}

func (c *verified) put(t tag, m match) {
	c.entries.Add(t.slot(), verifiedKey{t, m, c.now().Add(c.keep)})
}

func (t tag) slot() uint64 { return binary.BigEndian.Uint64(t[:8]) }
