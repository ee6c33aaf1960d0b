package verify

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

const (
	// orgFactor is how many times as often as one address an organization may be failed at.
	orgFactor = 10
	// agentFactor is how many times as often as keys the secrets of agents may fail at one address: where a pool is
	// removed, all of its agents there have to be told.
	agentFactor = 10
	// maxAtAddress is how many wait at one address for others' searches to end.
	maxAtAddress = 256
	// maxAccounts bounds each ledger: some 300 bytes an account.
	maxAccounts = 65_536
)

// failures decides who may have a key compared that was never found good. Failures cost
// the address that they come from, and the organization that they are aimed at; success
// costs nothing.
//
// An organization whose account is empty is guessed at from many addresses. Those with a
// failure on record are refused then. Those without one are not: a botnet that could lock
// everybody out would have won. It gets one guess from each of its addresses instead.
//
// Keys that have the form of one made for the organization that they are sent for count apart: who
// guesses at an address, or goes on with a password of another server, does not keep out a job there
// whose key is new. They are no guesses at an organization either, so its account has nothing to do
// with them.
//
// So do the secrets of pools and agents: an agent that goes on with one that is good no more keeps nobody out
// who shares its address.
//
// Nobody waits here for an account to fill again: strangers who wait would hold places among the
// requests that are worked on. They are told how long it takes.
//
// Those whose address is unknown have an account for each organization, and wait behind
// strangers with an address: whoever sends a flood to many organizations has many accounts.
type failures struct {
	now func() time.Time

	mu      sync.Mutex
	clients ledger[string]
	formed  ledger[string] // of clients too, for keys that were made for somebody
	agents  ledger[string] // of clients too, for the secrets of pools and agents
	orgs    ledger[uuid.UUID]
}

func newFailures(perMinute int, now func() time.Time) (*failures, error) {
	clients, err := newLedger[string](perMinute)
	if err != nil {
		return nil, err
	}
	formed, err := newLedger[string](perMinute)
	if err != nil {
		return nil, err
	}
	agents, err := newLedger[string](perMinute * agentFactor)
	if err != nil {
		return nil, err
	}
	orgs, err := newLedger[uuid.UUID](perMinute * orgFactor)
	return &failures{now: now, clients: clients, formed: formed, agents: agents, orgs: orgs}, err
}

// accountOf returns what o's client has left to fail with.
func (f *failures) accountOf(o origin, now time.Time) *account {
	switch {
	case o.agent:
		return f.agents.of(o.account(), now)
	case o.formed:
		return f.formed.of(o.account(), now)
	}
	return f.clients.of(o.account(), now)
}

// admission is the right to have a key compared once. It must be released.
type admission struct {
	origin
	rank   rank
	client *account
}

// admit returns when a search from o may begin. As many run at once as could all fail, so
// that nobody gets more guesses by sending them together; any caller beyond that waits. The
// error is a tooManyError, errQueueFull, or ctx's.
func (f *failures) admit(ctx context.Context, o origin) (admission, error) {
	for {
		a, wait, err := f.try(o)
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
func (f *failures) try(o origin) (a admission, wait <-chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	client := f.accountOf(o, now)
	a = admission{origin: o, rank: suspect, client: client}
	if err := f.check(o, client, now); err != nil {
		return admission{}, nil, err
	}
	switch {
	case client.TokensAt(now) >= float64(client.running+1):
		if client.running == 0 && client.unblemished(now) && o.hasAddress() {
			a.rank = stranger
		}
		client.running++
		return a, nil, nil
	case client.waiting >= maxAtAddress:
		return admission{}, nil, errQueueFull
	}
	if client.ended == nil {
		client.ended = make(chan struct{})
	}
	client.waiting++
	return a, client.ended, nil
}

// allowed returns a tooManyError when nothing from o may fail now.
func (f *failures) allowed(o origin) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	return f.check(o, f.accountOf(o, now), now)
}

// check returns a tooManyError when nothing from o may fail now.
func (f *failures) check(o origin, client *account, now time.Time) error {
	if wait := client.untilNext(now); wait > 0 {
		return tooManyError{"from this address", wait}
	}
	if o.countsApart() || client.unblemished(now) {
		return nil
	}
	if wait := f.orgs.of(o.org, now).untilNext(now); wait > 0 {
		return tooManyError{"for this organization", wait}
	}
	return nil
}

// release gives an admission back, and lets those behind it try.
func (f *failures) release(a admission, failed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a.client.running--
	if failed {
		f.charge(a.origin, a.client)
	}
	if a.client.ended != nil {
		close(a.client.ended)
		a.client.ended = nil
	}
}

// record charges a failure that needed no admission: it cost next to nothing to find.
func (f *failures) record(o origin) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.charge(o, f.accountOf(o, f.now()))
}

func (f *failures) charge(o origin, client *account) {
	now := f.now()
	client.AllowN(now, 1)
	if !o.countsApart() {
		f.orgs.of(o.org, now).AllowN(now, 1)
	}
}

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

// origin is where a check comes from: an organization that is asked for, and the client
// that asks.
type origin struct {
	org    uuid.UUID
	client string // an address, or the network of one of IPv6
	formed bool   // the key has the form of one that was made for the organization
	agent  bool   // it is the secret of a pool, or of an agent
}

// countsApart reports whether failures from o are no guesses at an organization.
func (o origin) countsApart() bool { return o.formed || o.agent }

func originOf(org uuid.UUID, address string) origin {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return origin{org: org, client: address}
	}
	return origin{org: org, client: NetworkOf(ip).String()}
}

// account returns whose failures count for o: those of its address. A caller whose address
// nobody knows may be anybody, so strangers must not use up what all such callers have:
// there it is the failures against o's organization.
func (o origin) account() string {
	account := o.client
	if !o.hasAddress() {
		account += " " + o.org.String()
	}
	return account
}

func (o origin) hasAddress() bool {
	_, err := netip.ParseAddr(o.client)
	return err == nil
}

// NetworkOf returns what stands for a client's address where clients are counted: of IPv4
// the address itself, of IPv6 the first of its /48.
//
// Subscribers of IPv6 commonly have a whole /56 or /48 to come from. Where the /48 is their
// provider's, neighbours share a list of waiters; that matters only while one of them is flooding, and
// then the round robin over organizations still serves the others.
func NetworkOf(address netip.Addr) netip.Addr {
	if address = address.Unmap().WithZone(""); address.Is6() {
		if net, err := address.Prefix(48); err == nil {
			return net.Addr()
		}
	}
	return address
}
