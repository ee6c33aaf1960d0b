package sqlite

import (
	"errors"
	"testing"

	"github.com/holdfast/holdfast/fault"
)

// A store that could not count its states says so, and serves them.
func TestUncounted(t *testing.T) {
	s, _ := opened(t)
	s.uncounted = errors.New("a page is damaged")
	mustPut(t, s, newRef("x"), []byte("{}"))
	_, err := s.Totals(t.Context())
	wantFault(t, err, fault.StoreUnavailable)
}
