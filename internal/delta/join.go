package delta

import (
	"encoding/binary"
	"sort"
)

// shortJoined is the length up to which bytes of the base are written down as new ones: to say where they are takes
// about as many.
const shortJoined = 8

// Join makes one script of two: first leads from a base to between, second from between to a body, and the script
// from the base to the body. It has at most limit bytes; ok is false when that takes more. The base is not needed,
// so nobody has to read it. Nothing is changed or kept.
//
// What is new in the script is what second has, and what it copies of between that the base has not: all of it is
// in the body.
func Join(between, first, second []byte, limit int) (script []byte, ok bool) {
	parts, ok := partsOf(first, len(between))
	if !ok {
		return nil, false
	}
	j := joiner{between: between, parts: parts}
	_, ok = eachStep(second, len(between), func(fresh []byte, from, n int) bool {
		j.add(fresh)
		return j.copyBetween(from, n) && len(j.script)+len(j.fresh) <= limit
	})
	j.flush()
	return j.script, ok && len(j.script) <= limit
}

// part is a piece of between: a copy of the base, from a place on, or new, where that is below zero.
type part struct{ at, end, from int }

// partsOf returns the parts that a script makes of size bytes, in their order and without gaps.
func partsOf(script []byte, size int) (parts []part, ok bool) {
	at := 0
	made, ok := eachStep(script, MaxBase, func(fresh []byte, from, n int) bool {
		if len(fresh) > 0 {
			parts = append(parts, part{at, at + len(fresh), -1})
			at += len(fresh)
		}
		if n > 0 {
			parts = append(parts, part{at, at + n, from})
			at += n
		}
		return at <= size
	})
	return parts, ok && made == size
}

// eachStep hands a script's steps on: what is new, and then how much of a base of at most so many bytes is copied,
// from where. It returns how many bytes they make; ok is false for a script that isn't one, and when step says so.
func eachStep(script []byte, base int, step func(fresh []byte, from, n int) bool) (made int, ok bool) {
	for copied := 0; len(script) > 0; {
		fresh, rest, err := length(script, MaxBase)
		if err != nil || fresh > len(rest) {
			return made, false
		}
		n, after, err := length(rest[fresh:], MaxBase)
		if err != nil {
			return made, false
		}
		moved, used := binary.Varint(after)
		if used <= 0 || moved < -int64(copied) || moved > int64(base-copied) {
			return made, false
		}
		from := copied + int(moved)
		if n > base-from || !step(rest[:fresh], from, n) {
			return made, false
		}
		made += fresh + n
		script, copied = after[used:], from+n
	}
	return made, true
}

// joiner writes the script. The step under way is new bytes, and then a copy.
type joiner struct {
	between []byte
	parts   []part
	script  []byte
	fresh   []byte
	from, n int // the copy behind fresh
	copied  int // where the copy before it has ended
}

// copyBetween adds n bytes of between.
func (j *joiner) copyBetween(from, n int) bool {
	end := from + n
	i := sort.Search(len(j.parts), func(i int) bool { return j.parts[i].end > from })
	for ; from < end; i++ {
		if i == len(j.parts) {
			return false
		}
		p := j.parts[i]
		until := min(end, p.end)
		if p.from < 0 {
			j.add(j.between[from:until])
		} else {
			j.copyBase(p.from+from-p.at, j.between[from:until])
		}
		from = until
	}
	return true
}

// copyBase adds these bytes, which the base has at a place.
func (j *joiner) copyBase(from int, bytes []byte) {
	switch {
	case j.n > 0 && j.from+j.n == from:
		j.n += len(bytes)
	case len(bytes) <= shortJoined:
		j.add(bytes)
	default:
		if j.n > 0 {
			j.flush()
		}
		j.from, j.n = from, len(bytes)
	}
}

// add adds new bytes.
func (j *joiner) add(fresh []byte) {
	if len(fresh) == 0 {
		return
	}
	if j.n > 0 {
		j.flush()
	}
	j.fresh = append(j.fresh, fresh...)
}

// flush ends the step under way, if there is one.
func (j *joiner) flush() {
	if j.n == 0 {
		j.from = j.copied
	}
	if len(j.fresh) == 0 && j.n == 0 {
		return
	}
	j.script = binary.AppendUvarint(j.script, uint64(len(j.fresh)))
	j.script = append(j.script, j.fresh...)
	j.script = binary.AppendUvarint(j.script, uint64(j.n))
	j.script = binary.AppendVarint(j.script, int64(j.from-j.copied))
	j.copied, j.fresh, j.n = j.from+j.n, j.fresh[:0], 0
}

// Whole returns a script that leads from any base of so many bytes to itself.
func Whole(size int) (script []byte) {
	if size == 0 {
		return nil
	}
	return append(binary.AppendUvarint([]byte{0}, uint64(size)), 0)
}
