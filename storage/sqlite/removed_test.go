package sqlite

import (
	"os"
	"testing"
	"time"

	"github.com/holdfast/holdfast/fault"
)

// TestRemoved takes the database file away while it is open: what would be written now,
// nobody would find again.
func TestRemoved(t *testing.T) {
	s, clock := opened(t)
	path, ref := s.path, newRef("removed")
	mustPut(t, s, ref, []byte("{}"))
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	_, err := put(s, ref, []byte("[]"))
	wantFault(t, err, fault.StoreUnavailable)
	wantFault(t, s.Ready(t.Context()), fault.StoreUnavailable)

	if err := os.WriteFile(path, nil, 0o600); err != nil { // another file is not it either
		t.Fatal(err)
	}
	_, err = put(s, ref, []byte("[]"))
	wantFault(t, err, fault.StoreUnavailable)

	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	clock.Add(time.Hour)
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	mustPut(t, s, ref, []byte("[]"))
}
