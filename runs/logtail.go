package runs

import (
	"encoding/binary"
	"slices"

	"github.com/holdfast/holdfast/internal/mask"
)

// A log is kept in pieces. What comes is put together with the pieces before it while those are
// smaller than twice of it, so that each small piece has at least twice the bytes of the next: a
// log has a piece for each 64 KiB, and a few more at its end, however small the parts are in
// which it came, and no byte is sealed more often than a few times.
const (
	// smallPiece is up to how many bytes a piece is put together with what comes behind it.
	smallPiece = 64 << 10
	// largePiece is how many bytes of a log a piece has that came in one part.
	largePiece = 256 << 10
)

// logPart is a piece of a log with its plain bytes.
type logPart struct {
	offset int64
	text   []byte
}

func (p logPart) end() int64 { return p.offset + int64(len(p.text)) }

// logTail is the end of a log, as far as it matters for what comes next. It is never changed.
type logTail struct {
	end   int64
	parts []logPart // small ones, and those that have something open; the last ends at end
	// context are the last bytes as they came, of which the last open ones are not masked yet in
	// the parts either: what comes next decides whether they are of a secret. Nobody is shown them.
	context []byte
	open    int
}

// extended returns the tail behind which the text has come, and the parts that are to be kept
// then, in the place of all from the first one's offset on.
func (t logTail) extended(text []byte, masker *mask.Masker) (next logTail, parts []logPart) {
	covered := masker.Cover(slices.Concat(t.context, text), len(t.context)-t.open)
	from := t.end - int64(t.open) // from here on it is other than it was
	fresh := covered.Text[len(t.context)-t.open:]
	size, keep := int64(len(fresh)), len(t.parts)
	for keep > 0 && (t.parts[keep-1].end() > from || joins(t.parts[keep-1], size)) {
		keep--
		size = t.end + int64(len(text)) - t.parts[keep].offset
	}
	joined := logPart{offset: from}
	if keep < len(t.parts) {
		joined.offset = t.parts[keep].offset
	}
	for _, p := range t.parts[keep:] {
		joined.text = append(joined.text, p.text[:min(int64(len(p.text)), max(from-p.offset, 0))]...)
	}
	joined.text = append(joined.text, fresh...)
	parts = joined.divided(covered.Open)
	next = logTail{end: t.end + int64(len(text)), open: covered.Open}
	next.context = slices.Concat(t.context, text)[len(t.context)+len(text)-covered.Context:]
	next.parts = lastParts(slices.Concat(t.parts[:keep], parts), next.end-int64(next.open))
	return next, parts
}

func joins(before logPart, size int64) bool {
	return len(before.text) < smallPiece && int64(len(before.text)) < 2*size
}

// divided returns the part in several where it is large: none of them is small, and what is open
// is apart, as it will be replaced.
func (p logPart) divided(open int) (all []logPart) {
	for len(p.text)-open >= smallPiece {
		n := len(p.text) - open
		if n >= largePiece+smallPiece {
			n = largePiece
		}
		all = append(all, logPart{p.offset, p.text[:n]})
		p = logPart{p.offset + int64(n), p.text[n:]}
	}
	if len(p.text) > 0 {
		all = append(all, p)
	}
	return all
}

// lastParts returns those at the end that may be put together with what follows: small ones, and
// those beyond the offset.
func lastParts(all []logPart, offset int64) []logPart {
	n := len(all)
	for n > 0 && (len(all[n-1].text) < smallPiece || all[n-1].end() > offset) {
		n--
	}
	return slices.Clone(all[n:])
}

// plain is what is sealed of the tail's last part: its bytes, and behind them how many are open
// and the context, so that another server goes on as this one would.
func (t logTail) plain(text []byte) []byte {
	if len(t.context) == 0 {
		return text
	}
	return append(binary.BigEndian.AppendUint32(slices.Clone(text), uint32(t.open)), t.context...)
}

// textOf divides what was sealed of a piece again. open is how many of its bytes are not to be
// shown while more may follow.
func (p LogPiece) textOf(plain []byte) (text, context []byte, open int) {
	size := int(min(p.Size, int64(len(plain))))
	text, behind := plain[:size], plain[size:]
	if len(behind) < 4 {
		return text, nil, 0
	}
	open = int(binary.BigEndian.Uint32(behind))
	return text, behind[4:], open
}
