package auth

import (
	"container/list"
	"context"
	"errors"
	"net/netip"
	"sync"

	"github.com/google/uuid"
)

// errCrowded is returned by gate.enter to whom it turns away.
var errCrowded = errors.New("too many key checks are waiting")

// place is where somebody waits: in the queue of an organization and in that of a client.
type place struct {
	org    uuid.UUID
	client string // an address, or the network of one of IPv6
}

func placeOf(org uuid.UUID, address string) place {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return place{org, address}
	}
	// Subscribers of IPv6 commonly have a whole /56 or /48 to wait under. Where the /48 is
	// their provider's, neighbours share a queue; that matters only while one of them is
	// flooding, and then the rota over organizations still serves the others.
	if ip = ip.Unmap().WithZone(""); ip.Is6() {
		if net, err := ip.Prefix(48); err == nil {
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
// are served alternately. So the first of a client's queue waits for at most two checks
// for each other client with somebody waiting, and one more, beyond those that are
// running; the same holds for organizations. However many checks a flood asks for, it
// costs others the fewer of its clients and its organizations.
//
// At a limit the longest queue loses its last waiter to a newcomer with a shorter one.
// So a caller of whose client nobody else waits is turned away only by a flood from many
// networks: at least limit.org other clients with one check each wait for its organization
// then, or limit.total in all. A caller behind the same address as a flood shares the
// flood's queue, and may be turned away in its stead.
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
	turn             chan struct{} // closed when it may go or is turned away
	away             bool          // it is turned away; set before turn is closed
	inOrg, inClients *list.Element
}

func newGate(width int, limit crowd) *gate {
	return &gate{
		limit: limit, free: width, at: make(map[place]int),
		byOrg: newRota[uuid.UUID](), byClient: newRota[string](),
	}
}

// enter waits for its turn; leave must follow, unless it fails. It does with errCrowded
// when too many wait, at once or when somebody else gets the room, and with ctx's error,
// at once, when ctx ends. Who was admitted before may wait whatever the limits say.
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
	if !admitted && !g.makeRoom(p) {
		g.mu.Unlock()
		return errCrowded
	}
	w := g.join(p)
	g.mu.Unlock()

	select {
	case <-w.turn:
		if w.away {
			return errCrowded
		}
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

// makeRoom reports whether a newcomer may wait at p, after turning somebody else away
// where that is needed.
func (g *gate) makeRoom(p place) bool {
	switch {
	case g.at[p] >= g.limit.place || g.byClient.length(p.client) >= g.limit.client:
		return false
	case g.byOrg.length(p.org) >= g.limit.org:
		return g.turnAway(g.lastOfFullestPlace(p))
	case g.waiting >= g.limit.total:
		return g.turnAway(g.byClient.lastOfLongest(g.byClient.length(p.client) + 1))
	}
	return true
}

// lastOfFullestPlace returns the last waiter of the place where most wait for p's
// organization; nil when a newcomer at p would have as many around it.
func (g *gate) lastOfFullestPlace(p place) *waiter {
	fullest, most := p, g.at[p]+1
	for other, n := range g.at {
		if other.org == p.org && n > most {
			fullest, most = other, n
		}
	}
	if fullest == p {
		return nil
	}
	return g.byOrg.last(p.org, func(w *waiter) bool { return w.place == fullest })
}

// turnAway makes w's enter fail. It reports false when there is no w.
func (g *gate) turnAway(w *waiter) bool {
	if w == nil {
		return false
	}
	g.remove(w)
	w.away = true
	close(w.turn)
	return true
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
		if !w.away {
			g.passOn()
		}
	default:
		g.remove(w)
	}
}
