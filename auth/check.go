package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/google/uuid"
)

// maxReloads bounds how often one call starts over because the keyring was replaced while
// its key was being checked.
const maxReloads = 4

var errReloads = errors.New("the auth file changes faster than a key can be checked")

// wrongError is why credentials are wrong, for the log only.
type wrongError string

func (e wrongError) Error() string { return string(e) }

const (
	errWrongOrg wrongError = "no such organization, or it has no keys"
	errWrongKey wrongError = "wrong key"
	errNoKey    wrongError = "not a possible key: empty, too long, or with a NUL byte"
)

// sealer makes what must not be foreseen from outside, under keys of this process.
type sealer struct{ tags, choices [32]byte }

func newSealer() sealer {
	var s sealer
	rand.Read(s.tags[:])
	rand.Read(s.choices[:])
	return s
}

func (s *sealer) tag(c Credentials) tag {
	mac := hmac.New(sha256.New, s.tags[:])
	mac.Write(c.Org[:])
	mac.Write([]byte(c.Key))
	return tag(mac.Sum(nil))
}

// choice is a number for an organization that stays the same: were it drawn anew, the
// time of several answers would tell an unknown organization from a real one.
func (s *sealer) choice(org uuid.UUID) uint64 {
	mac := hmac.New(sha256.New, s.choices[:])
	mac.Write(org[:])
	return binary.BigEndian.Uint64(mac.Sum(nil))
}

// flightKey is a check that callers can share. The place is in it so that nobody waits in
// the queue of somebody else's flood; the second check finds what the first remembered.
type flightKey struct {
	tag        tag
	generation uint64
	place      place
}

// match finds the key in the keyring in force.
func (v *Verifier) match(ctx context.Context, cred Credentials, p place) (match, error) {
	if !possibleKey(cred.Key) {
		cred.Key = ""
	}
	t := v.seal.tag(cred)
	for range maxReloads {
		ring := v.current.Load()
		if m, ok := v.verified.get(t, ring.generation); ok {
			return m, nil
		}
		m, err := v.flights.do(ctx, flightKey{t, ring.generation, p}, func(ctx context.Context) (match, error) {
			return v.search(ctx, ring, cred, t, p)
		})
		if err != nil {
			return match{}, err
		}
		if v.stillGood(&m, cred.Org, t) {
			return m, nil
		}
	}
	return match{}, errReloads
}

// stillGood looks a match up again when the keyring was replaced while it was searched.
func (v *Verifier) stillGood(m *match, org uuid.UUID, t tag) bool {
	ring := v.current.Load()
	if ring.generation == m.generation {
		return true
	}
	o, ok := ring.find(org, m.key.Hash)
	if ok {
		m.orgName, m.limits, m.generation = o.Name, o.Limits, ring.generation
		v.verified.put(t, *m)
	}
	return ok
}

// search compares the key with all hashes of the organization, or with as many of another
// one. Each comparison waits for its own turn, so that an organization with many keys
// holds nobody up for longer than one with few.
func (v *Verifier) search(ctx context.Context, ring *inForce, cred Credentials, t tag, p place) (match, error) {
	org, known := ring.suspects(cred.Org, v.seal.choice(cred.Org))
	possible := possibleKey(cred.Key)
	for i, k := range org.Keys {
		if err := v.gate.enter(ctx, p, i > 0); err != nil {
			return match{}, err
		}
		m, found := v.try(ring, org, k, cred.Key, t, known && possible)
		v.gate.leave()
		if found {
			return m, nil
		}
	}
	switch {
	case !possible:
		return match{}, errNoKey
	case !known:
		return match{}, errWrongOrg
	}
	return match{}, errWrongKey
}

// try is one turn: the comparison with one hash, whose result counts only if it may. A
// check of the same key elsewhere may have been faster.
func (v *Verifier) try(ring *inForce, org *Organization, k StoredKey, key string, t tag, counts bool) (match, bool) {
	if m, ok := v.verified.get(t, ring.generation); ok {
		return m, true
	}
	if !v.compare(k.Hash, key) || !counts {
		return match{}, false
	}
	m := match{org.Name, org.Limits, k, ring.generation}
	v.verified.put(t, m)
	return m, true
}

// possibleKey reports whether a key could be anybody's. bcrypt ignores what comes after
// 72 bytes and repeats a key from its NUL on, so that others would pass for what they
// are not.
func possibleKey(key string) bool {
	return key != "" && len(key) <= maxKeyLength && !strings.Contains(key, "\x00")
}
