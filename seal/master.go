package seal

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// What keys are derived for.
const (
	forMasterID = "holdfast seal 1: master id"
	forWrapping = "holdfast seal 1: wrap"
	forSealing  = "holdfast seal 1: seal"
	forSums     = "holdfast seal 1: sum"
	forMarks    = "holdfast seal 1: mark"
	forTags     = "holdfast seal 1: tag"
	forMasks    = "holdfast seal 1: mask"
)

// Master has the master keys of a file. Printing it shows none of them.
type Master struct {
	keys []masterKey // newest first, and never empty
}

// NewMaster returns a master key that is nowhere kept: for what is gone with the process.
func NewMaster() *Master { return &Master{keys: []masterKey{newMasterKey(newKey())}} }

type masterKey struct {
	id   keyID
	wrap *xaes
	mark [keySize]byte
}

func newMasterKey(key [keySize]byte) masterKey {
	return masterKey{id: keyID(derived(key, forMasterID, len(keyID{}))), wrap: newXAES(derivedKey(key, forWrapping)),
		mark: derivedKey(key, forMarks)}
}

// Format keeps the keys out of whatever a Master is printed to.
func (m *Master) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, "[master keys]") }

// wrap encrypts a data key under the newest master key.
func (m *Master) wrap(org uuid.UUID, number uint32, id keyID, key [keySize]byte) WrappedKey {
	newest := m.keys[0]
	blob := header(wrapMagic, newest.id)
	nonce := newNonce()
	sealed := newest.wrap.seal(append(blob, nonce...), nonce, key[:], wrapBinding(blob, org, number, id))
	return WrappedKey{Number: number, ID: id, Wrapped: sealed}
}

// unwrap decrypts a data key of an organization.
func (m *Master) unwrap(org uuid.UUID, w WrappedKey) (dataKey, error) {
	by, body, err := readHeader(wrapMagic, w.Wrapped)
	if err != nil {
		return dataKey{}, fault.Wrap(err, fault.SealCorrupt, "the organization's data key %d can't be read", w.Number)
	}
	i := slices.IndexFunc(m.keys, func(k masterKey) bool { return k.id == by })
	if i < 0 {
		return dataKey{}, fault.New(fault.SealKeyMissing,
			"the master key %x, which the organization's data key %d is wrapped with, is not in the master file", by, w.Number)
	}
	binding := wrapBinding(w.Wrapped[:headerSize], org, w.Number, w.ID)
	plain, err := m.keys[i].wrap.open(body[:nonceSize], body[nonceSize:], binding)
	if err != nil || len(plain) != keySize {
		return dataKey{}, fault.New(fault.SealCorrupt, "the organization's data key %d was changed or damaged", w.Number)
	}
	return newDataKey(w, [keySize]byte(plain)), nil
}

// wrapsNow reports whether a key is wrapped with the newest master key.
func (m *Master) wrapsNow(w WrappedKey) bool {
	by, _, err := readHeader(wrapMagic, w.Wrapped)
	return err == nil && by == m.keys[0].id
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
