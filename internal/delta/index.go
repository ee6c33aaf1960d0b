package delta

import (
	"encoding/binary"
	"math/bits"
)

// grain is the distance of the places that an index knows, and how much of each it looks at.
const grain = 16

// index finds places of a base by what stands there. Each slot has one place, plus one; of
// several it knows the last, which bounds the time to look.
type index []int32

func newIndex(base []byte) index {
	x := make(index, 1<<bits.Len(uint(len(base)/grain)))
	for at := 0; at+grain <= len(base); at += grain {
		x[x.slot(base[at:])] = int32(at + 1)
	}
	return x
}

// find returns a place that may begin as text does, or -1. text has at least grain bytes.
func (x index) find(text []byte) int { return int(x[x.slot(text)]) - 1 }

func (x index) slot(text []byte) uint64 {
	a, b := binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[8:])
	const odd1, odd2 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F // xxHash's primes
	mixed := (a*odd1 ^ bits.RotateLeft64(b*odd2, 32)) * odd1
	return mixed >> 32 & uint64(len(x)-1)
}
