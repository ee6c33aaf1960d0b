package seal

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// Overhead is how much longer what is sealed is than what it was made of.
const Overhead = headerSize + nonceSize + tagSize

// Organization seals with the data keys of one organization as they were when it was made, and asks nobody for
// them: for who is in the middle of a transaction. It is safe for concurrent use.
type Organization struct {
	org  uuid.UUID
	ring *ring
}

// Of returns what seals for an organization. It makes the organization's first data key if it has none.
func (s *Sealer) Of(ctx context.Context, org uuid.UUID) (*Organization, error) {
	if err := (place{org: org, kind: "key"}).check(); err != nil {
		return nil, err
	}
	found, err := s.rings.forSealing(ctx, org)
	if err != nil {
		return nil, err
	}
	return &Organization{org, found}, nil
}

// Known is Of for who only opens: without a key there is a fault of the code SealKeyMissing.
func (s *Sealer) Known(ctx context.Context, org uuid.UUID) (*Organization, error) {
	always := func(*ring) bool { return true }
	found, err := s.rings.get(ctx, org, always, func() (*ring, error) { return s.rings.load(ctx, org) })
	if err != nil {
		return nil, fmt.Errorf("get the organization's data keys: %w", err)
	}
	if found == nil {
		return nil, fault.New(fault.SealKeyMissing, "the organization has no data key")
	}
	return &Organization{org, found}, nil
}

// Seal is Sealer.Seal.
func (o *Organization) Seal(kind Kind, name string, plain []byte) ([]byte, error) {
	p := place{org: o.org, what: wholeThing, kind: kind, name: name}
	if err := p.check(); err != nil {
		return nil, err
	}
	key, err := o.ring.newest()
	if err != nil {
		return nil, err
	}
	return key.sealed(p, plain), nil
}

// Hide returns what stands for a digest where others may read it: the same for the same digest, kind and scope of
// this organization, and without anything that tells the digest to who has no key. Reveal undoes it.
func (o *Organization) Hide(kind Kind, scope string, digest [keySize]byte) ([]byte, error) {
	first, err := o.ring.first()
	if err != nil {
		return nil, err
	}
	tag := first.hide.tag(kind, scope, digest)
	mask := first.hide.mask(tag)
	out := make([]byte, 0, HiddenSize)
	out = append(out, tag[:]...)
	for i := range digest {
		out = append(out, digest[i]^mask[i])
	}
	return out, nil
}

// Reveal returns the digest that Hide has hidden. What Hide has not made for the same organization, kind and scope
// is a fault of the code SealCorrupt.
func (o *Organization) Reveal(kind Kind, scope string, hidden []byte) (digest [keySize]byte, err error) {
	first, err := o.ring.first()
	if err != nil {
		return digest, err
	}
	if len(hidden) == HiddenSize {
		mask := first.hide.mask([keySize]byte(hidden[:keySize]))
		for i := range digest {
			digest[i] = hidden[keySize+i] ^ mask[i]
		}
		if first.hide.isTag(hidden[:keySize], kind, scope, digest) {
			return digest, nil
		}
	}
	return [keySize]byte{}, fault.New(fault.SealCorrupt,
		"what is kept of the %s was changed, damaged or put in the place of something else", kind)
}

// Check returns why one of the organization's data keys can't be used; nil when all can.
func (o *Organization) Check() error {
	if _, err := o.ring.first(); err != nil {
		return err
	}
	for _, key := range o.ring.keys {
		if key.err != nil {
			return key.err
		}
	}
	return nil
}
