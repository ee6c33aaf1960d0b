package inventory

import (
	"regexp"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

var (
	goodKey = regexp.MustCompile(`\A[!-~]{1,255}\z`)
	idForm  = regexp.MustCompile(`\A` + keyedPrefix + `[0-9a-f]{60}\z`)
)

// FuzzIdempotencyKey: a key has one ID, which no other key has and which shows nothing of
// it; whatever is no visible ASCII is refused.
func FuzzIdempotencyKey(f *testing.F) {
	fuzzseeds.Add(f)
	f.Add("k", "K")
	f.Add("a b", "a\x00")
	f.Add("a", "a ")
	f.Add("é", "6f0c2b1e-3d57-4c0e-9f5a-0a6d1f1b7c11")
	f.Fuzz(func(t *testing.T, key, other string) {
		id, err := batchID(key)
		if key == "" {
			return // is no key
		}
		if !goodKey.MatchString(key) {
			if !fault.Is(err, fault.IdempotencyInvalid) {
				t.Fatalf("%q: %q, %v", key, id, err)
			}
			return
		}
		again, _ := batchID(key)
		different, _ := batchID(other)
		if err != nil || !idForm.MatchString(id) || again != id || (different == id) != (other == key) {
			t.Fatalf("%q: %q, %q, %v; %q: %q", key, id, again, err, other, different)
		}
	})
}
