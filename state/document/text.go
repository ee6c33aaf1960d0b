package document

import "bytes"

// sameText reports whether two JSON values are written alike but for the white space
// between tokens, as Terraform's indented and OpenTofu's compact states are. It allocates
// nothing. nil, for no value, is only like itself.
func sameText(a, b []byte) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if bytes.Equal(a, b) {
		return true
	}
	i, j := gap(a, 0), gap(b, 0)
	for i < len(a) && j < len(b) {
		end := token(a, i)
		n := end - i
		if j+n > len(b) || !bytes.Equal(a[i:end], b[j:j+n]) {
			return false
		}
		i, j = gap(a, end), gap(b, j+n)
	}
	return i == len(a) && j == len(b)
}

// gap returns the first offset from i on that holds no white space.
func gap(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// token returns where the piece without white space that starts at i ends: a string, or a
// single byte of anything else. Single bytes do, because white space is never what tells
// two tokens of valid JSON apart.
func token(text []byte, i int) int {
	if text[i] != '"' {
		return i + 1
	}
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// appendCompact appends a JSON value without the white space between its tokens.
func appendCompact(dst, raw []byte) []byte {
	for i := gap(raw, 0); i < len(raw); {
		end := token(raw, i)
		dst = append(dst, raw[i:end]...)
		i = gap(raw, end)
	}
	return dst
}
