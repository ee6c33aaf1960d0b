package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

// HiddenSize is the length of what Hide returns: a tag, and the digest under a mask that the tag stands for.
const HiddenSize = 2 * keySize

// hider has the keys that digests are hidden with.
type hider struct{ tagKey, maskKey [keySize]byte }

func newHider(key [keySize]byte) *hider {
	return &hider{derivedKey(key, forTags), derivedKey(key, forMasks)}
}

// tag is an HMAC of the kind, the scope and the digest, each behind its length.
func (h *hider) tag(kind Kind, scope string, digest [keySize]byte) (tag [keySize]byte) {
	mac := hmac.New(sha256.New, h.tagKey[:])
	for _, part := range [][]byte{[]byte(kind), []byte(scope), digest[:]} {
		_, _ = mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		_, _ = mac.Write(part)
	}
	mac.Sum(tag[:0])
	return tag
}

func (h *hider) isTag(tag []byte, kind Kind, scope string, digest [keySize]byte) bool {
	want := h.tag(kind, scope, digest)
	return hmac.Equal(tag, want[:])
}

func (h *hider) mask(tag [keySize]byte) (mask [keySize]byte) {
	mac := hmac.New(sha256.New, h.maskKey[:])
	_, _ = mac.Write(tag[:])
	mac.Sum(mask[:0])
	return mask
}
