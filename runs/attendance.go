package runs

import (
	"sync"
	"time"
)

// attendance is since when the server has been there to hear executors. After a start, a pause
// of its machine or a jump of its clock, leases look older than the silence was, and executors
// get the time of one to be heard again.
type attendance struct {
	mu          sync.Mutex
	since, last time.Time
}

// look notes that the server is there now, and reports whether it was all the while that a lease
// takes.
func (a *attendance) look(now time.Time, lease time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if gap := now.Sub(a.last); a.last.IsZero() || gap < 0 || gap > lease/2 {
		a.since = now
	}
	a.last = now
	return now.Sub(a.since) >= lease
}
