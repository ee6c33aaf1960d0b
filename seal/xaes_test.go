package seal

import (
	"bytes"
	"encoding/hex"
	"testing"
)

// The vectors of the specification, one for each way that the derivation can go.
func TestVectors(t *testing.T) {
	for _, v := range []struct {
		key                byte
		additional, sealed string
	}{
		{0x01, "", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"},
		{0x03, "c2sp.org/XAES-256-GCM", "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"},
	} {
		x := newXAES([keySize]byte(bytes.Repeat([]byte{v.key}, keySize)))
		nonce, plain := []byte("ABCDEFGHIJKLMNOPQRSTUVWX"), []byte("XAES-256-GCM")
		sealed := x.seal(nil, nonce, plain, []byte(v.additional))
		if hex.EncodeToString(sealed) != v.sealed {
			t.Errorf("sealed to %x, want %s", sealed, v.sealed)
		}
		if got, err := x.open(nonce, sealed, []byte(v.additional)); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("opened %q, %v", got, err)
		}
	}
}
