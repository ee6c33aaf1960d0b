package auth

import (
	"math/big"
	"strings"
)

const base62Digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// toBase62 writes the bytes, as one big-endian number, in exactly width digits. The
// caller chooses a width that holds them.
func toBase62(b []byte, width int) string {
	n, base, digit := new(big.Int).SetBytes(b), big.NewInt(62), new(big.Int)
	out := make([]byte, width)
	for i := width - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		out[i] = base62Digits[digit.Int64()]
	}
	return string(out)
}

// fromBase62 is the inverse: it fills into, and reports false for a text with other
// characters or for a number that doesn't fit.
func fromBase62(text string, into []byte) bool {
	n, base := new(big.Int), big.NewInt(62)
	for i := range len(text) {
		digit := strings.IndexByte(base62Digits, text[i])
		if digit < 0 {
			return false
		}
		n.Add(n.Mul(n, base), big.NewInt(int64(digit)))
	}
	if n.BitLen() > 8*len(into) {
		return false
	}
	n.FillBytes(into)
	return true
}
