package delta

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
)

const (
	// MaxBase is the longest base, in bytes: the index has 32 bits for a place.
	MaxBase = math.MaxInt32
	// shortest is the length from which on a match is worth a step.
	shortest = 32
	// nearby is how far a change is looked past for the place where both go on alike.
	nearby = 256
	// long is the length from which on a match is no accident.
	long = 512
	// patience is how many matches in a row may be shorter before the index is asked. Where
	// one of many like resources was put in front, each stands beside its neighbour, and is
	// like it but for all that matters.
	patience = 16
)

// pair is a place in body and one in base where both may go on alike.
type pair struct{ at, from int }

// differ makes a script that leads from base to body.
type differ struct {
	base, body []byte
	limit      int // of the script's length
	script     []byte
	done       int // body[:done] is in the script
	copied     int // where in base the last copy has ended
	shorts     int // how many matches in a row were no long ones
	index      index
}

// Diff returns a script that leads from base to body and has at most limit bytes; ok is
// false when it finds none, or too much that is new in the first part of body. It takes time in proportion to the
// lengths of both, whatever
// they are, and half a byte to a byte of memory for each of base if they differ in more than
// values. Neither is changed or kept. A base has at most MaxBase bytes.
func Diff(base, body []byte, limit int) (script []byte, ok bool) {
	d := differ{base: base, body: body, limit: limit}
	for p := (pair{}); d.room(p.at); p = d.next(p) {
		n := common(base[p.from:], body[p.at:])
		if n >= shortest {
			d.copy(p, n)
		}
		p.at, p.from = p.at+n, p.from+n
		if p.at == len(body) {
			d.copy(pair{p.at, d.copied}, 0)
			return d.script, len(d.script) <= limit
		}
	}
	return nil, false
}

// room reports whether body[:at] may get into the script, were it all new: a quarter of the
// limit at the start of body, and all of it at the end. What has nothing in common is given
// up four times as soon.
func (d *differ) room(at int) bool {
	most := float64(d.limit) * (0.25 + 0.75*float64(at)/float64(max(len(d.body), 1)))
	return float64(len(d.script)+at-d.done) <= most
}

// copy adds a step: what is new before p, and n bytes from there.
func (d *differ) copy(p pair, n int) {
	if p.at == d.done && n == 0 {
		return
	}
	d.script = binary.AppendUvarint(d.script, uint64(p.at-d.done))
	d.script = append(d.script, d.body[d.done:p.at]...)
	d.script = binary.AppendUvarint(d.script, uint64(n))
	d.script = binary.AppendVarint(d.script, int64(p.from-d.copied))
	d.done, d.copied = p.at+n, p.from+n
	if d.shorts++; n >= long {
		d.shorts = 0
	}
}

// next returns where body and base are alike again, after they differ at p; the ends of both
// when it finds nothing, or has no room left.
func (d *differ) next(p pair) pair {
	near, ok := d.near(p)
	if ok && d.index == nil && d.shorts < patience {
		return near
	}
	if d.index == nil {
		d.index = newIndex(d.base)
	}
	far := d.far(p.at, near.at)
	if ok && d.worth(near) >= d.worth(far) {
		return near
	}
	return far
}

// near looks where a value that was replaced by one as long would end: 9 of 10 changes in a
// state are such. Without a match it returns the ends of both.
func (d *differ) near(p pair) (found pair, ok bool) {
	last := min(nearby, len(d.body)-p.at-shortest, len(d.base)-p.from-shortest)
	for k := 1; k <= last; k++ {
		if matches(d.base[p.from+k:], d.body[p.at+k:]) {
			return pair{p.at + k, p.from + k}, true
		}
	}
	return pair{len(d.body), len(d.base)}, false
}

// far looks anywhere in base for what begins in body at a place or behind it, until the end.
func (d *differ) far(at, end int) pair {
	for ; at < end && at+shortest <= len(d.body) && d.room(at); at++ {
		if from := d.index.find(d.body[at:]); from >= 0 && matches(d.base[from:], d.body[at:]) {
			return d.back(pair{at, from})
		}
	}
	return pair{len(d.body), len(d.base)}
}

// back begins a match as early as it does.
func (d *differ) back(p pair) pair {
	for p.at > d.done && p.from > 0 && d.body[p.at-1] == d.base[p.from-1] {
		p.at, p.from = p.at-1, p.from-1
	}
	return p
}

// worth is for how long both go on alike, as far as that matters.
func (d *differ) worth(p pair) int {
	return common(d.base[p.from:min(p.from+long, len(d.base))], d.body[p.at:])
}

// matches reports whether a match at the start of both is worth a step.
func matches(a, b []byte) bool {
	return len(a) >= shortest && len(b) >= shortest &&
		binary.LittleEndian.Uint64(a) == binary.LittleEndian.Uint64(b) && bytes.Equal(a[:shortest], b[:shortest])
}

// common returns how many bytes a and b have in common at their starts.
func common(a, b []byte) (n int) {
	// Four times as fast as word by word, where all is alike.
	const stride = 512
	end := min(len(a), len(b))
	for n+stride <= end && bytes.Equal(a[n:n+stride], b[n:n+stride]) {
		n += stride
	}
	for ; n+8 <= end; n += 8 {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
	}
	for n < end && a[n] == b[n] {
		n++
	}
	return n
}
