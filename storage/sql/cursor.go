package sqluploads

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// A cursor is the ID of a record, signed together with its organization and the order, in
// base64: 8 and 16 bytes, 32 characters.
const (
	cursorBytes    = 8
	signatureBytes = 16
)

func (s *server) cursor(org uuid.UUID, order inventory.Order, id int64) string {
	raw := binary.BigEndian.AppendUint64(make([]byte, 0, cursorBytes+signatureBytes), uint64(id))
	return base64.RawURLEncoding.EncodeToString(append(raw, s.signature(org, order, raw)...))
}

func (s *server) signature(org uuid.UUID, order inventory.Order, id []byte) []byte {
	mac := hmac.New(sha256.New, s.secret)
	mac.Write(org[:])
	direction := byte('a')
	if order == inventory.Descending {
		direction = 'd'
	}
	mac.Write([]byte{direction})
	mac.Write(id)
	return mac.Sum(nil)[:signatureBytes]
}

// position returns the ID that a cursor of ours stands for.
func (s *server) position(org uuid.UUID, order inventory.Order, cursor string) (int64, error) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(raw) != cursorBytes+signatureBytes {
		return 0, errCursor()
	}
	id := int64(binary.BigEndian.Uint64(raw))
	// The texts are compared, as several decode to the same bytes.
	if !hmac.Equal([]byte(cursor), []byte(s.cursor(org, order, id))) {
		return 0, errCursor()
	}
	return id, nil
}

func errCursor() error {
	return fault.New(fault.CursorInvalid, "the cursor is none that this server gave for this organization and order")
}
