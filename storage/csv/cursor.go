package csv

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/google/uuid"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// cursors turns offsets into text that only this store reads, for one organization and
// one order: the offset and 64 zero bits as one encrypted block. A text that nobody was
// given decrypts to zero bits once in 2^64 tries.
type cursors struct{ block cipher.Block }

func newCursors(key []byte, org uuid.UUID, order inventory.Order) cursors {
	mac := hmac.New(sha256.New, key)
	mac.Write(org[:])
	if order == inventory.Descending {
		mac.Write([]byte{1})
	}
	block, err := aes.NewCipher(mac.Sum(nil))
	if err != nil {
		panic(err) // the key has 32 bytes
	}
	return cursors{block}
}

func (c cursors) encode(offset int64) string {
	var b [aes.BlockSize]byte
	binary.BigEndian.PutUint64(b[:], uint64(offset))
	c.block.Encrypt(b[:], b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func (c cursors) decode(text string) (int64, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != aes.BlockSize || len(text) != base64.RawURLEncoding.EncodedLen(len(b)) {
		return 0, errCursor() // the decoder skips line ends, hence the length
	}
	c.block.Decrypt(b, b)
	offset := int64(binary.BigEndian.Uint64(b))
	if binary.BigEndian.Uint64(b[8:]) != 0 || offset < 0 {
		return 0, errCursor()
	}
	return offset, nil
}

func errCursor() error {
	return fault.New(fault.CursorInvalid, "the cursor was not given for this organization and order; begin again without one")
}
