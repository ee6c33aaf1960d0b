package lastuse

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/internal/logctx/logtest"
)

// together is what nodes have written down.
type together struct {
	mu   sync.Mutex
	uses Uses
	down error
}

func (s *together) NoteUses(_ context.Context, uses Uses) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down == nil {
		maps.Copy(s.uses, uses)
	}
	return s.down
}

func (s *together) Uses(context.Context) (Uses, error) { return s.uses, s.down }

func (s *together) ShredUses(_ context.Context, org uuid.UUID) (removed int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := len(s.uses)
	maps.DeleteFunc(s.uses, func(c Credential, _ Use) bool { return c.Org == org })
	return had - len(s.uses), s.down
}

func (s *together) set(down error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

// TestShared writes down once a minute what was used, keeps it while that fails, and forgets an
// organization in both places.
func TestShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ring := &together{uses: Uses{}}, everything()
		var log logtest.Journal
		u := Open(t.Context(), Config{Shared: s, Known: func() *keyring.Keyring { return ring },
			Logger: slog.New(slog.NewTextHandler(&log, nil)), Now: time.Now})
		key := Credential{orgA, keyOne}
		note := func(from string) { u.Note(auth.Principal{Org: orgA, KeyID: keyOne, Address: from}) }
		minute := func() { time.Sleep(interval); synctest.Wait() }
		want := func(from string) {
			t.Helper()
			s.mu.Lock()
			defer s.mu.Unlock()
			if got := s.uses[key].From; got != from {
				t.Errorf("used from %q, want %q", got, from)
			}
		}
		note("192.0.2.1")
		minute()
		want("192.0.2.1")
		s.set(errors.New("away"))
		note("192.0.2.2")
		minute()
		want("192.0.2.1")
		s.set(nil)
		minute()
		want("192.0.2.2")
		note("192.0.2.3")
		for _, removed := range []int{2, 0} { // what waits, and what is written
			if n, err := u.Shred(t.Context(), orgA, 1); n != removed || err != nil {
				t.Errorf("Shred: %d, %v", n, err)
			}
		}
		want("")
		note("192.0.2.4")
		must(t, u.Close())
		want("192.0.2.4")
	})
}
