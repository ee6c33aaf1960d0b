package apply

import (
	"fmt"
	"sync"
	"time"

	"github.com/holdfast/holdfast/engine/diag"
)

// The breaker's numbers: how many failures in a row open it, and when it lets one try again.
const (
	breakAfter = 5
	resetAfter = time.Minute
)

// Breaker keeps calls from a provider that fails all the time. It opens after failures in a row; after a
// while it is half open and lets one call through, whose success closes it and whose failure opens it anew.
type Breaker struct {
	mu       sync.Mutex
	failures int
	opened   time.Time
	trying   bool
}

// Allow says whether a call may be made now; Done has to be told how it went.
func (b *Breaker) Allow(name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < breakAfter {
		return nil
	}
	wait := resetAfter - time.Since(b.opened)
	if wait > 0 || b.trying {
		return &diag.Error{Category: diag.Transient, Summary: fmt.Sprintf("the provider %s failed %d times in a row, and "+
			"isn't called for now", name, b.failures), Hint: "apply again in a minute"}
	}
	b.trying = true
	return nil
}

// Done says how an allowed call went. Only failures that could have gone well count.
func (b *Breaker) Done(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trying = false
	switch {
	case err == nil:
		b.failures = 0
	case Retryable(err):
		b.failures++
		b.opened = time.Now()
	}
}

// State names the breaker's state: CLOSED, OPEN or HALF_OPEN.
func (b *Breaker) State() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.failures < breakAfter:
		return "CLOSED"
	case time.Since(b.opened) >= resetAfter:
		return "HALF_OPEN"
	}
	return "OPEN"
}
