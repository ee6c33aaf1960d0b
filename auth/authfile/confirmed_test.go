package authfile

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestUnconfirmed counts from the last look that the database has answered, also when that was nothing new, or a
// revision that can't be used; and starts anew when it is back.
func TestUnconfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, b := &memoryRevisions{}, newBench()
		m.put(keysOld)
		w, err := Watch(t.Context(), WatchConfig{Path: "db", Revisions: m, Use: b.use, Logger: b.log.logger()})
		must(t, err)
		after := func(d time.Duration, least, most time.Duration) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := w.Unconfirmed(); got < least || got > most {
				t.Errorf("unconfirmed for %v, want %v to %v", got, least, most)
			}
		}
		after(time.Minute, 0, time.Second)
		m.put("nonsense")
		after(time.Minute, 0, time.Second)
		m.set(func() { m.down = errors.New("away") })
		after(time.Minute, 59*time.Second, time.Minute+time.Second)
		m.set(func() { m.down = nil })
		after(time.Second, 0, time.Second)
		must(t, w.Close())
	})
}
