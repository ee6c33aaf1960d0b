package verify

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
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
	errAgain    wrongError = "the same wrong key as before"

	errNoRule   wrongError = "no organization has a rule for a name in the certificate"
	errTwoRules wrongError = "the certificate's names stand for different rules"
)

// sealer makes what must not be foreseen from outside, under keys of this process.
type sealer struct{ tags, choices [32]byte }

func newSealer() sealer {
	var s sealer
	rand.Read(s.tags[:])
	rand.Read(s.choices[:])
	return s
}

// tag is one hash where HMAC takes two and a dozen allocations, at each request. HMAC
// would keep those who have a tag from making another one; nobody is ever given any.
func (s *sealer) tag(c auth.Credentials) tag {
	var room [len(s.tags) + len(c.Org) + auth.MaxKeyLength]byte
	text := append(append(append(room[:0], s.tags[:]...), c.Org[:]...), c.Key...)
	return sha256.Sum256(text)
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

// attempt is one caller's credentials on their way through a check.
type attempt struct {
	auth.Credentials
	place
	tag  tag
	ring *inForce
}

// match finds the key in the keyring in force.
func (v *Verifier) match(ctx context.Context, cred auth.Credentials, address string) (match, error) {
	if !possibleKey(cred.Key) {
		cred.Key = ""
	}
	t := v.seal.tag(cred)
	if m, ok := v.verified.get(t, v.current.Load().generation); ok {
		return m, nil
	}
	p := placeOf(cred.Org, address)
	a := attempt{Credentials: cred, place: p, tag: t}
	for range maxReloads {
		a.ring = v.current.Load()
		if m, ok := v.verified.get(a.tag, a.ring.generation); ok {
			return m, nil
		}
		m, err := v.flights.do(ctx, flightKey{a.tag, a.ring.generation, p}, func(ctx context.Context) (match, error) {
			return v.check(ctx, a)
		})
		if err != nil {
			return match{}, err
		}
		if v.stillGood(&m, cred.Org, a.tag) {
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
	o, k, ok := ring.find(org, m.key.Hash)
	if ok {
		*m = match{o.Name, o.Limits, k, ring.generation}
		v.verified.put(t, *m)
	}
	return ok
}

// check asks for as little work as the caller's past allows. A key that was good before
// is compared with its own hash only; credentials that were wrong are so without any
// comparison. Failures on record keep nobody with a key of the first kind out.
func (v *Verifier) check(ctx context.Context, a attempt) (match, error) {
	if l, ok := v.familiar(a); ok {
		m, _, err := v.search(ctx, a, l, familiar)
		return m, err
	}
	if err := v.failures.allowed(a.place); err != nil {
		return match{}, err
	}
	if err := v.refused.again(a.tag, a.ring.generation, v.now()); err != nil {
		return match{}, err
	}
	return v.checkStranger(ctx, a)
}

func (v *Verifier) checkStranger(ctx context.Context, a attempt) (match, error) {
	admitted, err := v.failures.admit(ctx, a.place)
	if err != nil {
		return match{}, err
	}
	org, known := a.ring.suspects(a.Org, v.seal.choice(a.Org))
	m, compared, err := v.search(ctx, a, lineup{org, org.Keys, known && possibleKey(a.Key)}, admitted.rank)
	// Who left in the middle has made a guess all the same.
	v.failures.end(admitted, err != nil && compared > 0)
	if _, wrong := errors.AsType[wrongError](err); wrong {
		v.refused.put(a.tag, a.ring.generation)
	}
	return m, err
}

// familiar returns the one hash that the key was good for, if it is still in the keyring.
func (v *Verifier) familiar(a attempt) (lineup, bool) {
	hash, ok := v.verified.hash(a.tag)
	if !ok {
		return lineup{}, false
	}
	o, k, ok := a.ring.find(a.Org, hash)
	return lineup{o, []keyring.StoredKey{k}, true}, ok
}

// decoyHash is what keys are compared with where no organization has one: a valid hash of
// the cost of new keys. What the comparison says is never used.
const decoyHash = "$2a$10$7EqJtq98hPqEX7fNZaFWoOhi5B0a1H5vZc1m3QjXr8m0cUu4rJ7Gu"

// suspects returns the hashes to compare a key with. For an organization that has none
// they are those of another one, chosen by choice, so that the answer takes as long as
// that for a wrong key; known is false then, and the comparison must not count.
func (r *inForce) suspects(org uuid.UUID, choice uint64) (o *keyring.Organization, known bool) {
	if o, ok := r.Organizations[org]; ok && len(o.Keys) > 0 {
		return o, true
	}
	if n := uint64(len(r.WithKeys)); n > 0 {
		return r.WithKeys[choice%n], false
	}
	return &keyring.Organization{Keys: []keyring.StoredKey{{Hash: decoyHash}}}, false
}

// find returns the organization and its key that has this hash.
func (r *inForce) find(org uuid.UUID, hash string) (*keyring.Organization, keyring.StoredKey, bool) {
	return findKey(r.Keyring, org, func(k keyring.StoredKey) bool { return k.Hash == hash })
}

// findID is find by a key's ID, which follows from its hash.
func findID(r *keyring.Keyring, org uuid.UUID, id string) (*keyring.Organization, keyring.StoredKey, bool) {
	return findKey(r, org, func(k keyring.StoredKey) bool { return k.ID == id })
}

func findKey(r *keyring.Keyring, org uuid.UUID, is func(keyring.StoredKey) bool) (*keyring.Organization, keyring.StoredKey, bool) {
	o, ok := r.Organizations[org]
	if !ok {
		return nil, keyring.StoredKey{}, false
	}
	if i := slices.IndexFunc(o.Keys, is); i >= 0 {
		return o, o.Keys[i], true
	}
	return nil, keyring.StoredKey{}, false
}
