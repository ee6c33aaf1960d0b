package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
)

const (
	keySize   = 32
	nonceSize = 24
	tagSize   = 16
)

// xaes is XAES-256-GCM. Its long nonces can be drawn at random for any number of messages.
type xaes struct {
	block cipher.Block
	k1    [aes.BlockSize]byte // of CMAC, which the derivation is built on
}

func newXAES(key [keySize]byte) *xaes {
	block, _ := aes.NewCipher(key[:]) // fails for a key of another length only
	x := &xaes{block: block}
	block.Encrypt(x.k1[:], x.k1[:])
	carry := byte(0)
	for i := len(x.k1) - 1; i >= 0; i-- {
		x.k1[i], carry = x.k1[i]<<1|carry, x.k1[i]>>7
	}
	x.k1[len(x.k1)-1] ^= carry * 0b10000111
	return x
}

// derive returns AES-GCM under the key that the first half of a nonce stands for. The other
// half is its own nonce.
func (x *xaes) derive(nonce []byte) cipher.AEAD {
	var key [keySize]byte
	for i := range 2 {
		half := key[i*aes.BlockSize : (i+1)*aes.BlockSize]
		copy(half, []byte{0, byte(i + 1), 'X', 0})
		copy(half[4:], nonce[:nonceSize/2])
		subtle.XORBytes(half, half, x.k1[:])
		x.block.Encrypt(half, half)
	}
	block, _ := aes.NewCipher(key[:])
	aead, _ := cipher.NewGCM(block) // fails for a block of another length only
	return aead
}

// seal appends the ciphertext and its tag to dst.
func (x *xaes) seal(dst, nonce, plain, additional []byte) []byte {
	return x.derive(nonce).Seal(dst, nonce[nonceSize/2:], plain, additional)
}

func (x *xaes) open(nonce, sealed, additional []byte) ([]byte, error) {
	return x.derive(nonce).Open(nil, nonce[nonceSize/2:], sealed, additional)
}
