package verify

import (
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

// maxAccounts bounds each ledger: some 300 bytes an account.
const maxAccounts = 65_536

// account is what one address, or one organization, has left to fail with. A failure that
// is as old as the bucket's refill is forgotten.
type account struct {
	*rate.Limiter
	running int           // searches from there that may still fail
	waiting int           // callers who wait for one of them to end
	ended   chan struct{} // closed when one ends; nil while nobody waits
}

func newAccount(perMinute int) *account {
	return &account{Limiter: rate.NewLimiter(rate.Limit(float64(perMinute)/60), perMinute)}
}

// unblemished reports whether no failure is on record.
func (a *account) unblemished(now time.Time) bool { return a.TokensAt(now) >= float64(a.Burst()) }

// untilNext is how long it takes until one more may fail; zero if that is now.
func (a *account) untilNext(now time.Time) time.Duration {
	missing := 1 - a.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	return time.Duration(missing / float64(a.Limit()) * float64(time.Second))
}

// ledger keeps accounts: those in which something stands, and at most maxAccounts of
// them; then the one that was asked for least recently is given up. It is not safe for
// concurrent use.
type ledger[K comparable] struct {
	accounts  *simplelru.LRU[K, *account]
	perMinute int
}

func newLedger[K comparable](perMinute int) (ledger[K], error) {
	accounts, err := simplelru.NewLRU[K, *account](maxAccounts, nil)
	return ledger[K]{accounts, perMinute}, err
}

// of returns k's account, a fresh one if there is none.
func (l ledger[K]) of(k K, now time.Time) *account {
	l.evictIdle(now)
	a, ok := l.accounts.Get(k)
	if !ok {
		a = newAccount(l.perMinute)
		l.accounts.Add(k, a)
	}
	return a
}

// evictIdle gives up two accounts at most in which nothing stands any more. As each call
// opens one at most, idle ones don't pile up.
func (l ledger[K]) evictIdle(now time.Time) {
	for range 2 {
		k, a, ok := l.accounts.GetOldest()
		if !ok || a.running > 0 || a.waiting > 0 || !a.unblemished(now) {
			return
		}
		l.accounts.Remove(k)
	}
}
