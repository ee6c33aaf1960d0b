package sqluploads

import (
	"bytes"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
	"github.com/holdfast/holdfast/inventory"
)

// FuzzCursor: a cursor leads back to its ID, and no other text does, be it another
// organization's or for the other order.
func FuzzCursor(f *testing.F) {
	fuzzseeds.Add(f)
	mine, other := uuid.UUID{1}, uuid.UUID{2}
	s := &server{secret: bytes.Repeat([]byte{7}, 32)}
	f.Add(s.cursor(mine, inventory.Ascending, 0), int64(0))
	f.Add(s.cursor(mine, inventory.Ascending, 1<<40)+"\n", int64(1)<<40)
	f.Add("", int64(-1))
	f.Fuzz(func(t *testing.T, text string, id int64) {
		if got, err := s.position(mine, inventory.Ascending, text); err == nil &&
			s.cursor(mine, inventory.Ascending, got) != text {
			t.Fatalf("%q is taken for %d", text, got)
		} else if err != nil && !fault.Is(err, fault.CursorInvalid) {
			t.Fatalf("%q: %v", text, err)
		}
		given := s.cursor(mine, inventory.Ascending, id)
		if got, err := s.position(mine, inventory.Ascending, given); got != id || err != nil {
			t.Fatalf("%d comes back as %d, %v", id, got, err)
		}
		if got, err := s.position(other, inventory.Ascending, given); err == nil {
			t.Fatalf("%d is %d for another organization", id, got)
		}
		if got, err := s.position(mine, inventory.Descending, given); err == nil {
			t.Fatalf("%d is %d in the other order", id, got)
		}
	})
}
