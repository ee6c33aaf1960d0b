package jsonscan

import (
	"encoding/binary"
	"math/bits"
)

const eightSpaces = 0x2020202020202020

// space returns the first offset from i on that holds no white space. It is inlined, so
// that where there is none, as before most commas, it costs a comparison.
func (s *scanner) space(i int) int {
	if i < len(s.data) && s.data[i] > ' ' {
		return i
	}
	return s.skipSpace(i)
}

// skipSpace knows the layout that Terraform writes, a newline and an indent of spaces,
// and takes the indent eight bytes at a time: 1.3 times as fast for a whole state. Were
// it inlined into space, space would be too large to be inlined itself, which costs a
// tenth.
//
//go:noinline
func (s *scanner) skipSpace(i int) int {
	end := behindSpace(s.data, i)
	if end > i {
		s.spaces++
	}
	return end
}

func behindSpace(data []byte, i int) int {
	for i < len(data) {
		switch data[i] {
		case '\n':
			i = skipIndent(data, i+1)
		case ' ', '\t', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

func skipIndent(data []byte, i int) int {
	for len(data)-i >= 8 {
		differs := binary.LittleEndian.Uint64(data[i:]) ^ eightSpaces
		if differs != 0 {
			return i + bits.TrailingZeros64(differs)/8
		}
		i += 8
	}
	return i
}
