package state

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// sealMark begins a sealed name. No name begins with it.
const sealMark = "!"

// seals hide the names that lists go on behind when the caller may not see them. The key is
// made anew with each service: a list that was begun before is begun again.
type seals struct{ cipher.AEAD }

func newSeals() seals {
	key := make([]byte, 32)
	_, _ = rand.Read(key)           // never fails
	block, _ := aes.NewCipher(key)  // fails for a key of another length only
	aead, _ := cipher.NewGCM(block) // likewise for a block
	return seals{aead}
}

// seal hides a name of an organization's.
func (s seals) seal(org uuid.UUID, name Name) Name {
	nonce := make([]byte, s.NonceSize())
	_, _ = rand.Read(nonce)
	return Name(sealMark + base64.RawURLEncoding.EncodeToString(s.Seal(nonce, nonce, []byte(name), org[:])))
}

// open returns the name under a seal, and any other text as it is.
func (s seals) open(org uuid.UUID, text Name) (Name, error) {
	sealed, ok := strings.CutPrefix(string(text), sealMark)
	if !ok {
		return text, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err == nil && len(raw) >= s.NonceSize() {
		if name, err := s.Open(nil, raw[:s.NonceSize()], raw[s.NonceSize():], org[:]); err == nil {
			return Name(name), nil
		}
	}
	return "", fault.New(fault.CursorInvalid,
		"the cursor is not one that this server gave since it was started; begin the list again")
}
