package auth

import (
	"container/list"
	"context"
	"errors"
	"net/netip"
	"sync"

	"github.com/google/uuid"
)

// errCrowded is returned by gate.enter when too many are waiting.
var errCrowded = errors.New("too many key checks are waiting")

// place is where somebody waits: in the queue of an organization and in that of a client.
type place struct {
	org    uuid.UUID
	client string // an address, or the network that one subscriber of IPv6 is given
}

func placeOf(org uuid.UUID, address string) place {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return place{org, address}
	}
	// A subscriber of IPv6 has 2^64 addresses to wait under.
	if ip = ip.Unmap().WithZone(""); ip.Is6() {
		if net, err := ip.Prefix(64); err == nil {
			ip = net.Addr()
		}
	}
	return place{org, ip.String()}
}

// crowd bounds how many may wait at once: at one place, for one organization, of one
// client, and in all.
type crowd struct{ place, org, client, total int }

// gate lets a bounded number of key checks run at once and decides who is next.
//
// Those who wait stand in two rotas, one over organizations and one over clients, which
// are served alternately. A flood has to keep to one client or to one organization to
// matter, so one of the two rotas always passes it by: whoever shares neither with it
// waits for at most three of its checks more than are running already, however many wait.
type gate struct {
	limit crowd

	mu       sync.Mutex
	free     int // checks that may start; above zero only while nobody waits
	waiting  int
	at       map[place]int
	byOrg    rota[uuid.UUID]
	byClient rota[string]
	clients  bool // whose rota is served next
}

type waiter struct {
	place
	turn             chan struct{} // closed when it may go
	inOrg, inClients *list.Element
}

func newGate(width int, limit crowd) *gate {
	return &gate{
		limit: limit, free: width, at: make(map[place]int),
		byOrg: newRota[uuid.UUID](), byClient: newRota[string](),
	}
}

// enter waits for its turn; leave must follow. It fails with errCrowded when too many
// wait already, unless the caller was admitted before, and with ctx's error, at once,
// when ctx ends.
func (g *gate) enter(ctx context.Context, p place, admitted bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g.mu.Lock()
	if g.free > 0 {
		g.free--
		g.mu.Unlock()
		return nil
	}
	if !admitted && g.crowded(p) {
		g.mu.Unlock()
		return errCrowded
	}
	w := g.join(p)
	g.mu.Unlock()

	select {
	case <-w.turn:
		return nil
	case <-ctx.Done():
		g.abandon(w)
		return ctx.Err()
	}
}

// leave ends a check and lets the next one start.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.passOn()
}

func (g *gate) crowded(p place) bool {
	return g.at[p] >= g.limit.place || g.waiting >= g.limit.total ||
		g.byOrg.length(p.org) >= g.limit.org || g.byClient.length(p.client) >= g.limit.client
}

func (g *gate) join(p place) *waiter {
	w := &waiter{place: p, turn: make(chan struct{})}
	w.inOrg, w.inClients = g.byOrg.join(p.org, w), g.byClient.join(p.client, w)
	g.waiting++
	g.at[p]++
	return w
}

func (g *gate) remove(w *waiter) {
	g.byOrg.leave(w.org, w.inOrg)
	g.byClient.leave(w.client, w.inClients)
	g.waiting--
	if g.at[w.place]--; g.at[w.place] == 0 {
		delete(g.at, w.place)
	}
}

func (g *gate) passOn() {
	w := g.byOrg.next()
	if g.clients {
		w = g.byClient.next()
	}
	if w == nil {
		g.free++
		return
	}
	g.clients = !g.clients
	g.remove(w)
	// A turn in one rota is a turn in both, or a flood would be served once by each.
	g.byOrg.served(w.org)
	g.byClient.served(w.client)
	close(w.turn)
}

// abandon takes w out of its queues. When its turn came meanwhile, the next one gets it.
func (g *gate) abandon(w *waiter) {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-w.turn:
		g.passOn()
	default:
		g.remove(w)
	}
}
