package seal

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// What keys are derived for.
const (
	forMasterID = "holdfast seal 1: master id"
	forWrapping = "holdfast seal 1: wrap" // by keys of older files, for all organizations
	forTree     = "holdfast seal 2: tree"
	forOrgs     = "holdfast seal 2: wrap"
	forBranches = "holdfast seal 2: branches"
	forSealing  = "holdfast seal 1: seal"
	forSums     = "holdfast seal 1: sum"
	forMarks    = "holdfast seal 1: mark"
	forTags     = "holdfast seal 1: tag"
	forMasks    = "holdfast seal 1: mask"
)

// ErrUnknownKey is in errors about what names a key that is none of those that the organization has.
var ErrUnknownKey = errors.New("what was sealed names a data key that the organization does not have")

// ErrForgotten is in errors about organizations that the master keys have forgotten.
var ErrForgotten = errors.New("the master keys have forgotten the organization")

// Master has the master keys of a file. Printing it shows none of them.
type Master struct {
	keys []masterKey // newest first, and never empty
}

// NewMaster returns a master key that is nowhere kept: for what is gone with the process.
func NewMaster() *Master { return &Master{keys: []masterKey{newMasterKey(newKey())}} }

// masterKey is what is needed of a master key. One of an older file wraps the data keys of all organizations; one of
// today wraps each by a secret of the organization's own, and can forget it.
type masterKey struct {
	id    keyID
	mark  [keySize]byte
	whole *xaes // nil for one of today
	orgs  tree  // empty for one of an older file
}

// olderKey is a key of a file of the format 1 or 2, or of the environment's 64 digits.
func olderKey(key [keySize]byte) masterKey {
	return masterKey{id: keyID(derived(key, forMasterID, len(keyID{}))), mark: derivedKey(key, forMarks),
		whole: newXAES(derivedKey(key, forWrapping))}
}

func newMasterKey(key [keySize]byte) masterKey {
	return masterKey{id: keyID(derived(key, forMasterID, len(keyID{}))), mark: derivedKey(key, forMarks),
		orgs: newTree(derivedKey(key, forTree))}
}

// format is that of the data keys that it wraps.
func (k masterKey) format() byte {
	if k.whole != nil {
		return formatOne
	}
	return formatTwo
}

// knows reports whether it wraps and unwraps for an organization.
func (k masterKey) knows(org uuid.UUID) bool {
	_, known := k.orgs.find(org)
	return known || k.whole != nil
}

// wrapperOf returns what wraps an organization's data keys; false if the key has forgotten it.
func (k masterKey) wrapperOf(org uuid.UUID) (*xaes, bool) {
	if k.whole != nil {
		return k.whole, true
	}
	leaf, known := k.orgs.leaf(org)
	return newXAES(derivedKey(leaf, forOrgs)), known
}

// Format keeps the keys out of whatever a Master is printed to.
func (m *Master) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, "[master keys]") }

// wrap encrypts a data key under the newest master key that has not forgotten its organization.
func (m *Master) wrap(org uuid.UUID, number uint32, id keyID, key [keySize]byte) (WrappedKey, error) {
	newest, known := m.newestFor(org)
	if !known {
		return WrappedKey{}, fault.New(fault.SealKeyMissing, "the master keys have forgotten the organization, as one with its ID "+
			"was removed with its data: `holdfast seal rotate` makes one that it can use")
	}
	wrapper, _ := newest.wrapperOf(org)
	blob := header(wrapMagic, newest.format(), newest.id)
	nonce := newNonce()
	sealed := wrapper.seal(append(blob, nonce...), nonce, key[:], wrapBinding(blob, org, number, id))
	return WrappedKey{Number: number, ID: id, Wrapped: sealed}, nil
}

// newestFor returns the newest master key that has not forgotten an organization.
func (m *Master) newestFor(org uuid.UUID) (masterKey, bool) {
	for _, key := range m.keys {
		if key.knows(org) {
			return key, true
		}
	}
	return masterKey{}, false
}

// unwrap decrypts a data key of an organization.
func (m *Master) unwrap(org uuid.UUID, w WrappedKey) (dataKey, error) {
	format, by, body, err := readHeader(wrapMagic, formatTwo, w.Wrapped)
	if err != nil {
		return dataKey{}, fault.Wrap(err, fault.SealCorrupt, "the organization's data key %d can't be read", w.Number)
	}
	i := slices.IndexFunc(m.keys, func(k masterKey) bool { return k.id == by && k.format() == format })
	if i < 0 {
		return dataKey{}, fault.New(fault.SealKeyMissing,
			"the master key %x, which the organization's data key %d is wrapped with, is not in the master file", by, w.Number)
	}
	wrapper, known := m.keys[i].wrapperOf(org)
	if !known {
		return dataKey{}, fault.Wrap(ErrForgotten, fault.SealKeyMissing, "the organization was removed with its data, and the "+
			"master key %x, which its data key %d is wrapped with, has forgotten it: what is sealed of it can't be read any more",
			by, w.Number)
	}
	binding := wrapBinding(w.Wrapped[:headerSize], org, w.Number, w.ID)
	plain, err := wrapper.open(body[:nonceSize], body[nonceSize:], binding)
	if err != nil || len(plain) != keySize {
		return dataKey{}, fault.New(fault.SealCorrupt, "the organization's data key %d was changed or damaged", w.Number)
	}
	return newDataKey(w, [keySize]byte(plain)), nil
}

// wrapsNow reports whether an organization's key is wrapped as one that is made now.
func (m *Master) wrapsNow(org uuid.UUID, w WrappedKey) bool {
	_, by, _, err := readHeader(wrapMagic, formatTwo, w.Wrapped)
	newest, known := m.newestFor(org)
	return err == nil && known && by == newest.id
}

// dataKey is a data key that was unwrapped.
type dataKey struct {
	number uint32
	id     keyID
	key    [keySize]byte
	seal   *xaes
	hide   *hider
	err    error // why it could not be unwrapped; then there is no key
}

func newDataKey(w WrappedKey, key [keySize]byte) dataKey {
	return dataKey{number: w.Number, id: w.ID, key: key, seal: newXAES(derivedKey(key, forSealing)), hide: newHider(key)}
}

func derivedKey(key [keySize]byte, what string) [keySize]byte {
	return [keySize]byte(derived(key, what, keySize))
}

func derived(key [keySize]byte, what string, size int) []byte {
	out, _ := hkdf.Key(sha256.New, key[:], nil, what, size) // fails for huge sizes only
	return out
}

func newKey() (key [keySize]byte) {
	_, _ = rand.Read(key[:]) // never fails
	return key
}

func newNonce() []byte {
	nonce := make([]byte, nonceSize)
	_, _ = rand.Read(nonce) // never fails
	return nonce
}
