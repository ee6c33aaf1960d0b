package dual

import (
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/storagetest"
)

// TestReplayBesidePayer asks for a replay where somebody pays already, as Open does when the
// payer of one side has started that of the other before it comes to that: whoever waits for
// the first try is told, and not left waiting.
func TestReplayBesidePayer(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir(), CSV: storagetest.NewInventory(), MySQL: storagetest.NewInventory()})
	defer s.Close()
	l, told := s.lane(uuid.New()), 0
	for _, side := range s.sides {
		if !l.pay(side.name) {
			t.Fatal("somebody pays for an organization that nobody knows")
		}
		s.replay(side, l, func() { told++ })
	}
	if told != len(s.sides) {
		t.Errorf("%d of %d were told", told, len(s.sides))
	}
}
