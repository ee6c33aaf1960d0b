package csv

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// position is a place between two rows of a file.
type position struct {
	offset int64
	// row tells whether the row that the cursor was given for still is where it was: before
	// the offset in ascending order, behind it in descending order. Zero says nothing.
	row uint32
}

// rowSum is what a position keeps of a row. It is never zero.
func rowSum(row []byte) uint32 { return max(crc32.Checksum(row, castagnoli()), 1) }

// cursors turns positions into text that is good for one organization and one order: the
// offset, the row's checksum and 32 zero bits as one encrypted block. Its key is no secret
// and has nothing of the index, so that cursors survive when that is made again: a reader
// may go to any place of its own file, and a text that nobody was given has to hit a row,
// its checksum and the zero bits.
type cursors struct {
	block cipher.Block
	// older is of the key that the index has. Cursors had no checksum when it was used.
	older cipher.Block
}

func newCursors(indexKey []byte, org uuid.UUID, order inventory.Order) cursors {
	return cursors{block: blockOf([]byte("holdfast upload cursors"), org, order), older: blockOf(indexKey, org, order)}
}

func blockOf(key []byte, org uuid.UUID, order inventory.Order) cipher.Block {
	mac := hmac.New(sha256.New, key)
	mac.Write(org[:])
	if order == inventory.Descending {
		mac.Write([]byte{1})
	}
	block, err := aes.NewCipher(mac.Sum(nil))
	if err != nil {
		panic(err) // the key has 32 bytes
	}
	return block
}

func (c cursors) encode(p position) string {
	var b [aes.BlockSize]byte
	binary.BigEndian.PutUint64(b[:], uint64(p.offset))
	binary.BigEndian.PutUint32(b[8:], p.row)
	c.block.Encrypt(b[:], b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func (c cursors) decode(text string) (position, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != aes.BlockSize || len(text) != base64.RawURLEncoding.EncodedLen(len(b)) {
		return position{}, errCursor() // the decoder skips line ends, hence the length
	}
	if p, ok := parse(c.block, b); ok && p.row != 0 {
		return p, nil
	}
	if p, ok := parse(c.older, b); ok && p.row == 0 {
		return p, nil
	}
	return position{}, errCursor()
}

func parse(block cipher.Block, text []byte) (position, bool) {
	var b [aes.BlockSize]byte
	block.Decrypt(b[:], text)
	p := position{int64(binary.BigEndian.Uint64(b[:])), binary.BigEndian.Uint32(b[8:])}
	return p, p.offset >= 0 && binary.BigEndian.Uint32(b[12:]) == 0
}

func errCursor() error {
	return fault.New(fault.CursorInvalid,
		"the cursor was not given for this organization and order; begin again without one")
}

func errMoved() error {
	return fault.New(fault.CursorInvalid,
		"the record that the cursor was given for is not where it was, because an operator changed the upload file; begin "+
			"again without one")
}
