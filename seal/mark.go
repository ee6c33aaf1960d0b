package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

// Mark returns what shows that somebody with the newest master key has written these parts for this purpose.
func (m *Master) Mark(purpose string, parts ...string) []byte {
	return m.keys[0].marked(purpose, parts)
}

// IsMark reports whether a mark is of one of the master keys, this purpose and these parts.
func (m *Master) IsMark(mark []byte, purpose string, parts ...string) bool {
	for _, key := range m.keys {
		if hmac.Equal(mark, key.marked(purpose, parts)) {
			return true
		}
	}
	return false
}

// marked is the HMAC of the parts with their lengths, so that no other parts come to the same bytes.
func (k masterKey) marked(purpose string, parts []string) []byte {
	mac := hmac.New(sha256.New, k.mark[:])
	for _, part := range append([]string{purpose}, parts...) {
		_, _ = mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		_, _ = mac.Write([]byte(part))
	}
	return mac.Sum(nil)
}
