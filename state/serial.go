package state

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"github.com/holdfast/holdfast/fault"
)

// How serials are counted: one up for each write. Nobody gets to lastSerial by that, which is
// the last that all readers of JSON can count to; and a step of more than serialJump is none
// that a client has counted.
const (
	lastSerial = math.MaxInt64
	serialJump = 1_000_000
)

// jumps reports whether nobody can have counted from one serial to the next.
func jumps(from, to uint64) bool { return to > from && to-from > serialJump }

// serialAbove returns the serial for a version that is to follow all those that have a serial
// that is taken: one above the highest. Where there is none left, because somebody has written
// a serial that nobody can have counted up to, it is one above those that can be reached from
// this one, or from zero, without a jump.
func serialAbove(from uint64, taken []uint64) uint64 {
	slices.Sort(taken)
	if highest := taken[len(taken)-1]; highest < lastSerial {
		return highest + 1
	}
	if reached := reach(from, taken); reached < lastSerial {
		return reached + 1
	}
	return reach(0, taken) + 1
}

// reach returns the highest of the sorted serials that can be counted up to.
func reach(from uint64, sorted []uint64) uint64 {
	for _, serial := range sorted {
		if jumps(from, serial) {
			break
		}
		from = max(from, serial)
	}
	return from
}

// withSerial returns the body with another serial, and every other byte as it was.
func withSerial(body []byte, serial uint64) ([]byte, error) {
	at, err := serialIn(body)
	if err != nil {
		return nil, stateInvalid(err)
	}
	if len(at) == 0 {
		return nil, fault.New(fault.StateUnsupported, "the state has no serial that could be raised")
	}
	start := offsetIn(body, at)
	return bytes.Join([][]byte{body[:start], strconv.AppendUint(nil, serial, 10), body[start+len(at):]}, nil), nil
}
