package csv

import (
	"bytes"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
	"github.com/holdfast/holdfast/inventory"
)

// FuzzCursor: a cursor leads back to its offset, and no other text does, be it another
// organization's or for the other order.
func FuzzCursor(f *testing.F) {
	fuzzseeds.Add(f)
	mine, other := uuid.UUID{1}, uuid.UUID{2}
	key := bytes.Repeat([]byte{7}, 32)
	c := newCursors(key, mine, inventory.Ascending)
	f.Add(c.encode(position{0, 1}), int64(0))
	f.Add(c.encode(position{1 << 40, 7})+"\n", int64(1)<<40)
	f.Add("", int64(-1))
	f.Fuzz(func(t *testing.T, text string, offset int64) {
		if got, err := c.decode(text); err == nil && (c.encode(got) != text || got.offset < 0) {
			t.Fatalf("%q is taken for %d", text, got)
		} else if err != nil && !fault.Is(err, fault.CursorInvalid) {
			t.Fatalf("%q: %v", text, err)
		}
		if offset < 0 {
			return
		}
		row := uint32(offset) | 1
		given := c.encode(position{offset, row})
		if got, err := c.decode(given); got != (position{offset, row}) || err != nil {
			t.Fatalf("%d comes back as %d, %v", offset, got, err)
		}
		for _, wrong := range []cursors{newCursors(key, other, inventory.Ascending),
			newCursors(key, mine, inventory.Descending)} {
			if got, err := wrong.decode(given); err == nil {
				t.Fatalf("%d is %d for somebody else", offset, got)
			}
		}
	})
}
