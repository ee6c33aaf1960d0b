package csv

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// TestNoRoomForTheCopy does not fill a disk that others write to with a copy that it has no room for.
func TestNoRoomForTheCopy(t *testing.T) {
	copies := 0
	s := openIn(t, Options{Dir: smallDisk(t, "8m"), open: func(path string) (appendFile, error) {
		if strings.HasSuffix(path, keptMark) {
			copies++
		}
		return openFile(path)
	}})
	org := uuid.New()
	batches := daily(t, s, org, 0, 54) // 18 of them have 256 KiB
	removed, err := s.Expire(t.Context(), org, longAgo().AddDate(0, 0, 3), 1)
	if removed != 0 || !fault.Is(err, fault.StoreFull) || copies != 0 {
		t.Errorf("Expire: %d, %v, with %d copies", removed, err, copies)
	}
	wantWhole(t, s, org, batches...)
	expire(t, s, org, 51, 3*51)
	wantWhole(t, s, org, batches[51:]...)
}
