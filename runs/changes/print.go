package changes

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// print is a fingerprint of what the change does: to what, from which values to which. It leaves
// out what only explains it, and is the same in whatever order the members of an object come.
func (x *exact) print() [32]byte {
	var b []byte
	for _, text := range []string{x.mode, x.address, x.previous, x.deposed, x.typ, x.provider} {
		b = appendText(b, []byte(text))
	}
	b = binary.AppendUvarint(b, uint64(len(x.actions)))
	for _, action := range x.actions {
		b = appendText(b, []byte(action))
	}
	for _, value := range [][]byte{x.before, x.after, x.unknown, x.importing, x.beforeIdentity, x.afterIdentiy,
		x.beforeMarks, x.afterMarks} {
		b = appendCanonical(b, value)
	}
	return sha256.Sum256(b)
}

func appendText(dst, text []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// appendCanonical appends the value in a form that two equal values share: strings without their
// escapes, members by their names. A value that is not there is null.
func appendCanonical(dst, value []byte) []byte {
	if len(value) == 0 {
		return append(dst, 'n')
	}
	dst, err := canonical(dst, jsonscan.NewCursor(value, jsonscan.Limits{}))
	if err != nil {
		// Decoders have checked the value; if it is damaged now, it equals nothing else.
		return appendText(append(dst, 'x'), value)
	}
	return dst
}

// canonical appends the value at hand; of a container the digest, so that the work stays linear
// in whatever depth.
func canonical(dst []byte, c *jsonscan.Cursor) ([]byte, error) {
	kind := c.Kind()
	if kind != '{' && kind != '[' {
		value, err := c.Value()
		if err != nil {
			return dst, err
		}
		switch kind {
		case '"':
			value, _ = jsonscan.Unquote(value)
		case 't', 'f', 'n':
			return append(dst, kind), nil
		default:
			kind = '0'
		}
		return appendText(append(dst, kind), value), nil
	}
	var parts [][]byte
	err := c.Each(func(child jsonscan.Child) error {
		var part []byte
		if child.Name != nil {
			part = appendText(part, child.Name)
		}
		part, err := canonical(part, c)
		parts = append(parts, part)
		return err
	})
	if kind == '{' {
		slices.SortFunc(parts, bytes.Compare)
	}
	sum := sha256.New()
	for _, part := range parts {
		sum.Write(binary.AppendUvarint(nil, uint64(len(part))))
		sum.Write(part)
	}
	return sum.Sum(append(dst, kind)), err
}

// digestVersion is in every digest; what goes into one changes with it.
const digestVersion = "holdfast changes 1"

// Digest is the digest of what the plan does. It is equal for plans that do the same to the same,
// whatever state, time or order they were made in, and different as soon as one value differs,
// sensitive ones included. key is a keyed hash, so that the digest tells nothing about values that
// could be guessed.
func (p *Plan) Digest(key func(data ...[]byte) [32]byte) [32]byte {
	prints := slices.Clone(p.hidden.prints)
	slices.SortFunc(prints, func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) })
	all := make([]byte, 0, len(prints)*sha256.Size)
	for _, print := range prints {
		all = append(all, print[:]...)
	}
	return key([]byte(digestVersion), all)
}
