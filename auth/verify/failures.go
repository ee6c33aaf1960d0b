package verify

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// orgFactor is how many times as often as one address an organization may be failed at.
	orgFactor = 10
	// maxAtAddress is how many wait at one address for others' searches to end.
	maxAtAddress = 256
)

// tooManyError says that somebody must wait before anything is compared.
type tooManyError struct {
	whose string
	wait  time.Duration
}

func (e tooManyError) Error() string { return fmt.Sprintf("too many failures %s", e.whose) }

// failures decides who may have a key compared that was never found good. Failures cost
// the address that they come from, and the organization that they are aimed at; success
// costs nothing.
//
// An organization whose account is empty is guessed at from many addresses. Those with a
// failure on record are refused then. Those without one are not: a botnet that could lock
// everybody out would have won. It gets one guess from each of its addresses instead.
//
// Those whose address is unknown have an account for each organization, and wait behind
// strangers with an address: one who sends a flood to many organizations has many accounts.
type failures struct {
	now func() time.Time

	mu      sync.Mutex
	clients ledger[string]
	orgs    ledger[uuid.UUID]
}

func newFailures(perMinute int, now func() time.Time) (*failures, error) {
	clients, err := newLedger[string](perMinute)
	if err != nil {
		return nil, err
	}
	orgs, err := newLedger[uuid.UUID](perMinute * orgFactor)
	return &failures{now: now, clients: clients, orgs: orgs}, err
}

// admission is the right to search for a key once. It must be ended.
type admission struct {
	place
	rank   rank
	client *account
}

// admit returns when a search from p may begin. As many run at once as could all fail, so
// that nobody gets more guesses by sending them together; who is beyond that waits. The
// error is a tooManyError, errCrowded, or ctx's.
func (f *failures) admit(ctx context.Context, p place) (admission, error) {
	for {
		a, wait, err := f.try(p)
		if err != nil || wait == nil {
			return a, err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			err = ctx.Err()
		}
		f.mu.Lock()
		a.client.waiting--
		f.mu.Unlock()
		if err != nil {
			return admission{}, err
		}
	}
}

// try admits a search, or returns what must be waited for. The caller is among the
// account's waiters then.
func (f *failures) try(p place) (a admission, wait <-chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	client := f.clients.of(p.account(), now)
	a = admission{place: p, rank: suspect, client: client}
	if err := f.check(p, client, now); err != nil {
		return admission{}, nil, err
	}
	switch {
	case client.TokensAt(now) >= float64(client.running+1):
		if client.running == 0 && client.unblemished(now) && p.hasAddress() {
			a.rank = stranger
		}
		client.running++
		return a, nil, nil
	case client.waiting >= maxAtAddress:
		return admission{}, nil, errCrowded
	}
	if client.ended == nil {
		client.ended = make(chan struct{})
	}
	client.waiting++
	return a, client.ended, nil
}

// allowed returns a tooManyError when nothing from p may fail now.
func (f *failures) allowed(p place) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	return f.check(p, f.clients.of(p.account(), now), now)
}

// check returns a tooManyError when nothing from p may fail now.
func (f *failures) check(p place, client *account, now time.Time) error {
	if wait := client.untilNext(now); wait > 0 {
		return tooManyError{"from this address", wait}
	}
	if client.unblemished(now) {
		return nil
	}
	if wait := f.orgs.of(p.org, now).untilNext(now); wait > 0 {
		return tooManyError{"for this organization", wait}
	}
	return nil
}

// end gives an admission back, and lets those behind it try.
func (f *failures) end(a admission, failed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a.client.running--
	if failed {
		f.charge(a.place, a.client)
	}
	if a.client.ended != nil {
		close(a.client.ended)
		a.client.ended = nil
	}
}

// record charges a failure that needed no admission: it cost next to nothing to find.
func (f *failures) record(p place) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.charge(p, f.clients.of(p.account(), f.now()))
}

func (f *failures) charge(p place, client *account) {
	now := f.now()
	client.AllowN(now, 1)
	f.orgs.of(p.org, now).AllowN(now, 1)
}
