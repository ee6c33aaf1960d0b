package auth

import (
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

// FuzzOrgOfKey: a key that carries an organization is spelled in one way only, and whatever
// an organization's new keys look like, they carry it.
func FuzzOrgOfKey(f *testing.F) {
	fuzzseeds.Add(f)
	id := uuid.MustParse("11111111-2222-3333-4444-555555555555")
	f.Add(NewKey(id), id[:])
	f.Add(keyPrefix+"7n42DGM5Tflk9n8mt7Fhc8_", id[:])
	f.Add("", make([]byte, 16))
	f.Fuzz(func(t *testing.T, key string, org []byte) {
		if got, carries := OrgOfKey(key); carries {
			same := keyPrefix + toBase62(got[:], orgDigits) + key[len(keyPrefix)+orgDigits:]
			if same != key || got == uuid.Nil || !HoldsKey(key) || len(key) > MaxKeyLength {
				t.Fatalf("%q carries %s, which is spelled %q", key, got, same)
			}
		}
		var id uuid.UUID
		copy(id[:], org)
		if got, carries := OrgOfKey(NewKey(id)); got != id || carries == (id == uuid.Nil) {
			t.Fatalf("a key of %s carries %s, %v", id, got, carries)
		}
	})
}
