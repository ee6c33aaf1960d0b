package seal

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// What sealed things and wrapped keys begin with.
const (
	sealMagic = "HFS\x00"
	wrapMagic = "HFK\x00"
)

const (
	formatOne = 1
	// formatTwo is of data keys that are wrapped by what is an organization's own.
	formatTwo  = 2
	headerSize = len(sealMagic) + 1 + len(keyID{})
)

// keyID names a key without telling anything about it.
type keyID = [8]byte

// header is what comes before the nonce.
func header(magic string, format byte, key keyID) []byte {
	return append(append([]byte(magic), format), key[:]...)
}

// readHeader returns the format, of which newest is the last that is known, the ID of the key that was used, and what
// follows it: a nonce and the ciphertext. The error says what is wrong, and nothing of the content.
func readHeader(magic string, newest byte, blob []byte) (format byte, key keyID, body []byte, err error) {
	if len(blob) > len(magic) {
		format = blob[len(magic)]
	}
	switch {
	case len(blob) <= len(magic):
		return 0, key, nil, errors.New("it is cut off")
	case string(blob[:len(magic)]) != magic:
		return 0, key, nil, fmt.Errorf("it does not begin with %q", magic)
	case format < formatOne || format > newest:
		return 0, key, nil, fmt.Errorf("its format is %d, and %d is the newest that is known: a newer version may have written it",
			format, newest)
	case len(blob) < headerSize+nonceSize+tagSize:
		return 0, key, nil, errors.New("it is cut off")
	}
	return format, keyID(blob[headerSize-len(key) : headerSize]), blob[headerSize:], nil
}

// wrapBinding is the additional data of a wrapped key.
func wrapBinding(header []byte, org uuid.UUID, number uint32, id keyID) []byte {
	out := append(append([]byte(nil), header...), org[:]...)
	return append(binary.BigEndian.AppendUint32(out, number), id[:]...)
}

// What is sealed.
const (
	wholeThing = 1
	onePiece   = 2
)

// place says what a sealed thing is, so that it opens as nothing else.
type place struct {
	org   uuid.UUID
	what  byte // wholeThing or onePiece
	index uint64
	kind  Kind
	name  string
}

// binding is the additional data of what is sealed.
func (p place) binding(header []byte) []byte {
	out := append(append([]byte(nil), header...), p.org[:]...)
	out = binary.BigEndian.AppendUint64(append(out, p.what), p.index)
	out = append(binary.BigEndian.AppendUint32(out, uint32(len(p.kind))), p.kind...)
	return append(binary.BigEndian.AppendUint32(out, uint32(len(p.name))), p.name...)
}

// check refuses places that only a mistake in the program makes.
func (p place) check() error {
	if p.org == uuid.Nil || p.kind == "" {
		return errors.New("seal: what is sealed needs an organization and a kind")
	}
	return nil
}
