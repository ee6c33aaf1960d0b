package verify

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/crypto/bcrypt"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
)

// Verify returns who is calling. A refusal is a *fault.Error:
//
//   - CredentialsWrong, after the same work for a wrong key as for an unknown organization;
//   - TooManyFailures, before any such work, because of what came before;
//   - KeyExpired or AddressRefused, which only those learn who have the key;
//   - TokenRefused or IssuerUnavailable, for a token, also of a run;
//   - Busy when too many checks are waiting or ctx ended meanwhile.
//
// It is logged with the organization and the client; the request ID is in ctx (package
// logctx).
func (v *Verifier) Verify(ctx context.Context, cred auth.Credentials, client auth.Client) (auth.Principal, error) {
	verify := v.verifyKey
	switch {
	case v.isRun(cred):
		verify = v.verifyRun
	case v.tokens != nil && auth.IsToken(cred.Key):
		verify = v.verifyToken
	}
	principal, err := verify(ctx, cred, client)
	if err != nil {
		if principal.Org == uuid.Nil {
			principal.Org = cred.Org
		}
		return auth.Principal{}, v.refuse(ctx, err, claim{cred.Whose(), principal}, client)
	}
	if err := v.trusts(); err != nil { // behind the check, which may have waited
		return auth.Principal{}, err
	}
	if principal.Run == nil {
		v.tell(principal)
	}
	return principal, nil
}

func (v *Verifier) verifyKey(ctx context.Context, cred auth.Credentials, client auth.Client) (auth.Principal, error) {
	m, err := v.match(ctx, cred, client.Address)
	if err != nil {
		return auth.Principal{}, err
	}
	return holderOf(m, cred.Org, client), usable(m.key.Grant, m.key.From, v.now(), client.Address)
}

// holderOf returns whom a key stands for.
func holderOf(m match, org uuid.UUID, client auth.Client) auth.Principal {
	o := keyring.Organization{ID: org, Name: m.orgName, Limits: m.limits, Exposure: m.exposure}
	p := principalOf(&o, m.key.Grant, client)
	p.KeyID, p.KeyName = m.key.ID, m.key.Called()
	return p
}

// principalOf returns a caller of an organization; what it came in with is not yet in it.
func principalOf(o *keyring.Organization, grant auth.Grant, client auth.Client) auth.Principal {
	return auth.Principal{
		Org:      o.ID,
		OrgName:  o.Name,
		Grant:    grant,
		Limits:   o.Limits,
		Exposure: o.Exposure,
		Address:  client.Address,
		Request:  client.Request,
	}
}

// maxReloads bounds how often one call starts over because the keyring was replaced while
// its key was being checked.
const maxReloads = 4

// attempt is one caller's credentials on their way through a check.
type attempt struct {
	auth.Credentials
	origin
	tag  tag
	ring *inForce
}

// sharedKey names a check that callers can share. The origin is in it so that nobody waits
// behind somebody else's flood; the second check finds what the first one remembered.
type sharedKey struct {
	tag     tag
	edition uint64
	origin  origin
}

// match finds the key in the keyring in force.
func (v *Verifier) match(ctx context.Context, cred auth.Credentials, address string) (match, error) {
	if !possibleKey(cred.Key) {
		cred.Key = ""
	}
	t := v.secrets.tag(cred)
	if m, ok := v.verified.get(t, v.current.Load().edition); ok {
		return m, nil
	}
	a := attempt{Credentials: cred, origin: originOf(cred.Org, address), tag: t}
	for range maxReloads {
		a.ring = v.current.Load()
		if m, ok := v.verified.get(a.tag, a.ring.edition); ok {
			return m, nil
		}
		m, err := v.shared.do(ctx, sharedKey{a.tag, a.ring.edition, a.origin}, func(ctx context.Context) (match, error) {
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

// stillGood finds a match again when the keyring was replaced during the check.
func (v *Verifier) stillGood(m *match, org uuid.UUID, t tag) bool {
	ring := v.current.Load()
	if ring.edition == m.edition {
		return true
	}
	found, ok := ring.find(org, func(k keyring.StoredKey) bool { return k.Hash == m.key.Hash })
	if ok {
		*m = found
		v.verified.put(t, found)
	}
	return ok
}

// check asks for as little work as the caller's past allows. A key that was good before
// is compared with its own hash only; credentials that were wrong are so without any
// comparison. Failures on record keep nobody with a key of the first kind out. They keep fewer out
// whose key has the form of a real one for the organization that they name: it was made somewhere,
// not guessed, so it counts apart.
func (v *Verifier) check(ctx context.Context, a attempt) (match, error) {
	if known, ok := v.familiarHash(a); ok {
		m, _, err := v.search(ctx, a, known, familiar)
		return m, err
	}
	if err := v.refused.again(a.tag, a.ring.edition, v.now()); err != nil {
		return match{}, err
	}
	carried, isFormed := auth.OrgOfKey(a.Key)
	a.origin.formed = isFormed && carried == a.Org
	if err := v.failures.allowed(a.origin); err != nil {
		return match{}, err
	}
	return v.checkStranger(ctx, a)
}

func (v *Verifier) checkStranger(ctx context.Context, a attempt) (match, error) {
	admitted, err := v.failures.admit(ctx, a.origin)
	if err != nil {
		return match{}, err
	}
	m, compared, err := v.search(ctx, a, v.hashesFor(a), admitted.rank)
	// A caller who left in the middle has made a guess all the same.
	v.failures.release(admitted, err != nil && compared > 0)
	if _, wrong := errors.AsType[wrongError](err); wrong {
		v.refused.put(a.tag, a.ring.edition)
	}
	return m, err
}

// hashes are what a key is compared with.
type hashes struct {
	of     *keyring.Organization
	keys   []keyring.StoredKey // at least one
	counts bool                // false where a comparison only has to take its time
}

// familiarHash returns the one hash that the key was good for, if it is still in the keyring.
func (v *Verifier) familiarHash(a attempt) (hashes, bool) {
	hash, ok := v.verified.hash(a.tag)
	if !ok {
		return hashes{}, false
	}
	m, ok := a.ring.find(a.Org, func(k keyring.StoredKey) bool { return k.Hash == hash })
	return hashes{a.ring.Organizations[a.Org], []keyring.StoredKey{m.key}, true}, ok
}

// decoyHash is what keys are compared with where no organization has one: a valid hash of
// the cost of new keys.
const decoyHash = "$2a$10$7EqJtq98hPqEX7fNZaFWoOhi5B0a1H5vZc1m3QjXr8m0cUu4rJ7Gu"

// hashesFor returns all hashes of the organization. For one that has none they are those of
// another one, always the same, so that the answer takes as long as that for a wrong key.
func (v *Verifier) hashesFor(a attempt) hashes {
	choice := v.secrets.choice(a.Org) // for a known one too: it takes its time
	if o, ok := a.ring.Organizations[a.Org]; ok && len(o.Keys) > 0 {
		return hashes{o, o.Keys, possibleKey(a.Key)}
	}
	if n := uint64(len(a.ring.WithKeys)); n > 0 {
		o := a.ring.WithKeys[choice%n]
		return hashes{o, o.Keys, false}
	}
	return hashes{&keyring.Organization{}, []keyring.StoredKey{{Hash: decoyHash}}, false}
}

// search compares the key with all hashes. Each comparison waits for its own turn, so that
// an organization with many keys holds nobody up for longer than one with few. It returns
// how many were made.
func (v *Verifier) search(ctx context.Context, a attempt, h hashes, r rank) (m match, compared int, err error) {
	for i, k := range h.keys {
		if err := v.queue.acquire(ctx, request{a.origin, r, i > 0}); err != nil {
			return match{}, i, err
		}
		m, found := v.compareOne(a, h, k)
		v.queue.release()
		if found {
			return m, i + 1, nil
		}
	}
	return match{}, len(h.keys), whyWrong(a, h)
}

// compareOne compares the key with one hash; the result counts only if it may. A check of
// the same key elsewhere may have been faster.
func (v *Verifier) compareOne(a attempt, h hashes, k keyring.StoredKey) (match, bool) {
	if m, ok := v.verified.get(a.tag, a.ring.edition); ok {
		return m, true
	}
	if !v.compare(k.Hash, a.Key) || !h.counts {
		return match{}, false
	}
	m := match{h.of.Name, h.of.Limits, h.of.Exposure, k, a.ring.edition}
	v.verified.put(a.tag, m)
	return m, true
}

// bcryptMatches is the comparison, and nearly all of the time that a check takes.
func bcryptMatches(hash, key string) bool {
	return bcrypt.CompareHashAndPassword([]byte(hash), []byte(key)) == nil
}

// find returns an organization's first key that is the one.
func (r *inForce) find(org uuid.UUID, isIt func(keyring.StoredKey) bool) (match, bool) {
	o, ok := r.Organizations[org]
	if !ok {
		return match{}, false
	}
	i := slices.IndexFunc(o.Keys, isIt)
	if i < 0 {
		return match{}, false
	}
	return match{o.Name, o.Limits, o.Exposure, o.Keys[i], r.edition}, true
}

// possibleKey reports whether a key could be anybody's. bcrypt ignores what comes after
// 72 bytes and repeats a key from its NUL on, so that others would pass for what they
// are not.
func possibleKey(key string) bool {
	return key != "" && len(key) <= auth.MaxKeyLength && !strings.Contains(key, "\x00")
}
