package seal

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// Sealer seals and opens what belongs to organizations. It is safe for concurrent use. It
// remembers the data keys of those organizations that it was lately used for. Create it with
// New.
type Sealer struct {
	rings *rings
}

// New returns a Sealer that wraps and unwraps data keys with master, and keeps them in keys.
func New(master *Master, keys Keys) *Sealer {
	return &Sealer{rings: newRings(master, keys)}
}

// Forget drops the data keys that are remembered of an organization: for one whose keys are destroyed,
// without which nothing that was sealed for it can be read any more.
func (s *Sealer) Forget(org uuid.UUID) { s.rings.forget(org) }

// Seal encrypts plain, so that only Open with the same organization, kind and name gets it
// back. The first Seal of an organization makes its first data key.
func (s *Sealer) Seal(ctx context.Context, org uuid.UUID, kind Kind, name string, plain []byte) ([]byte, error) {
	return s.seal(ctx, place{org: org, what: wholeThing, kind: kind, name: name}, plain)
}

// Open decrypts what Seal made. What was changed, cut off or sealed as anything else is a fault
// of the code SealCorrupt; what was sealed with a key that isn't there, SealKeyMissing.
func (s *Sealer) Open(ctx context.Context, org uuid.UUID, kind Kind, name string, sealed []byte) ([]byte, error) {
	return s.open(ctx, place{org: org, what: wholeThing, kind: kind, name: name}, sealed)
}

// Sum returns a digest that only who has the organization's keys can work out, so that it
// tells others nothing about the data: HMAC-SHA256 under a key of the organization's. The
// same data gives the same sum for good; the kind, and where one of the data ends and the
// next begins, count. The first Sum of an organization makes its first data key.
func (s *Sealer) Sum(ctx context.Context, org uuid.UUID, kind Kind, data ...[]byte) ([sha256.Size]byte, error) {
	if err := (place{org: org, kind: kind}).check(); err != nil {
		return [sha256.Size]byte{}, err
	}
	keys, err := s.rings.forSealing(ctx, org)
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	first, err := keys.first()
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	secret := derivedKey(first.key, forSums)
	mac := hmac.New(sha256.New, secret[:])
	for _, part := range append([][]byte{[]byte(kind)}, data...) {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		mac.Write(part)
	}
	return [sha256.Size]byte(mac.Sum(nil)), nil
}

func (s *Sealer) seal(ctx context.Context, p place, plain []byte) ([]byte, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	keys, err := s.rings.forSealing(ctx, p.org)
	if err != nil {
		return nil, err
	}
	key, err := keys.newest()
	if err != nil {
		return nil, err
	}
	return key.sealed(p, plain), nil
}

func (k dataKey) sealed(p place, plain []byte) []byte {
	out := make([]byte, 0, Overhead+len(plain))
	out = append(out, header(sealMagic, formatOne, k.id)...)
	binding, nonce := p.binding(out), newNonce()
	return k.seal.seal(append(out, nonce...), nonce, plain, binding)
}

func (s *Sealer) open(ctx context.Context, p place, sealed []byte) ([]byte, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	_, id, body, err := readHeader(sealMagic, formatOne, sealed)
	if err != nil {
		return nil, fault.Wrap(err, fault.SealCorrupt, "what is kept of the %s can't be read", p.kind)
	}
	key, err := s.rings.forOpening(ctx, p.org, id)
	if err != nil {
		return nil, err
	}
	plain, err := key.seal.open(body[:nonceSize], body[nonceSize:], p.binding(sealed[:headerSize]))
	if err != nil {
		return nil, fault.New(fault.SealCorrupt,
			"what is kept of the %s was changed, damaged or put in the place of something else", p.kind)
	}
	return plain, nil
}
