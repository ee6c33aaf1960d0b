package lastuse

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
)

// TestShred forgets what is in the file and what is not yet, and nothing of another organization.
func TestShred(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newUseBench(t)
		defer func() { must(t, b.Close()) }()
		b.note(keyOne, "192.0.2.1")
		time.Sleep(interval)
		synctest.Wait()
		if b.written() == "" {
			t.Fatal("nothing is written: the test shows nothing")
		}
		b.note(keyOne, "192.0.2.2")
		shred := func(org uuid.UUID) int {
			t.Helper()
			n, err := b.Shred(t.Context(), org, 1)
			must(t, err)
			return n
		}
		before := b.written()
		if n := shred(uuid.New()); n != 0 || b.written() != before {
			t.Errorf("%d of a stranger, %q", n, b.written())
		}
		if n := shred(orgA); n == 0 || b.written() != "" {
			t.Errorf("%d went, %q is written", n, b.written())
		}
		if n := shred(orgA); n != 0 {
			t.Errorf("%d went again", n)
		}
	})
}
