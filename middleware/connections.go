package middleware

import (
	"container/list"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth/verify"
)

// ConnectionLimits is how many connections may be open at once. Zero is no limit each.
type ConnectionLimits struct {
	Total int
	// PerAddress is how many of one address (of IPv6, of a /48) may be open without having
	// carried a request with good credentials.
	PerAddress int
	// Trusted proxies carry the requests of many, so PerAddress is not for them.
	Trusted []netip.Prefix
}

// Crowding is why a connection was closed, or never served.
type Crowding int

// The reasons.
const (
	CrowdedAddress Crowding = iota // as many strangers of its address as may be
	CrowdedServer                  // as many connections as may be
	crowdings
)

// String returns the reason as it stands in metrics.
func (c Crowding) String() string { return [...]string{"address", "total"}[c] }

// Crowdings returns all of them.
func Crowdings() []Crowding { return []Crowding{CrowdedAddress, CrowdedServer} }

// Connections keeps those who have no key from using up the connections of those who have
// one, and all of them from using up the file descriptors that data needs. Nobody knows of a
// newcomer whether it has a key, so it is let in, and somebody else has to go: the oldest that
// asks for nothing of an organization that has more than half of all, then the oldest
// stranger that asks for nothing, then the oldest stranger, then the oldest that asks for
// nothing of the organization that has the most: so none of them cuts off another one. It is
// safe for concurrent use.
type Connections struct {
	limits ConnectionLimits
	closed [crowdings]atomic.Uint64

	mu        sync.Mutex
	strangers list.List // of *seat, the oldest in front
	// of *seat, likewise, by organization: those that carried good credentials; without empty ones
	known    map[uuid.UUID]*list.List
	knownAll int                       // how many those are
	at       map[netip.Addr]*list.List // of *seat: the strangers of an address; without empty ones
}

// seat is one open connection.
type seat struct {
	of      *Connections
	conn    net.Conn
	network netip.Addr
	busy    atomic.Bool // a request is being answered
	isKnown atomic.Bool

	// Under the lock of Connections; both places are nil for one that has left.
	org    uuid.UUID     // whose credentials it carried; none for a stranger and for a trusted proxy
	place  *list.Element // in strangers or known
	inHere *list.Element // among the strangers of its address
}

// NewConnections returns the bounds of a server's connections.
func NewConnections(limits ConnectionLimits) *Connections {
	return &Connections{limits: limits, at: map[netip.Addr]*list.List{}, known: map[uuid.UUID]*list.List{}}
}

// Limits returns what the bounds are.
func (cs *Connections) Limits() ConnectionLimits { return cs.limits }

// Open returns how many connections are open: of those that carried good credentials, and
// of trusted proxies; and of all others.
func (cs *Connections) Open() (known, strangers int) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.knownAll, cs.strangers.Len()
}

// Closed returns how many connections were closed for the reason.
func (cs *Connections) Closed(why Crowding) uint64 { return cs.closed[why].Load() }

// Track is for http.Server. What arrives of a request before its headers are whole is
// nothing yet: whoever sends them slowly may have to go.
func (cs *Connections) Track(c net.Conn, state http.ConnState) {
	if s := seatOfConn(c); s != nil {
		s.busy.Store(state == http.StateActive)
	}
}

// admit gives a newcomer a seat, and returns whose it was, who has to go: nil for nobody.
// There is none where everybody is busy.
func (cs *Connections) admit(c net.Conn) (s, leaves *seat) {
	address, _ := parseHost(c.RemoteAddr().String())
	s = &seat{of: cs, conn: c, network: verify.NetworkOf(address)}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if isTrusted(address, cs.limits.Trusted) {
		s.isKnown.Store(true)
	}
	leaves, ok := cs.makeRoom(s)
	if !ok {
		return nil, nil
	}
	if leaves != nil {
		cs.remove(leaves)
	}
	cs.add(s)
	return s, leaves
}

// makeRoom reports false when nobody can go for the newcomer.
func (cs *Connections) makeRoom(s *seat) (leaves *seat, ok bool) {
	neighbours := cs.at[s.network]
	switch {
	case !s.isKnown.Load() && cs.limits.PerAddress > 0 && neighbours != nil && neighbours.Len() >= cs.limits.PerAddress:
		cs.closed[CrowdedAddress].Add(1)
		leaves = oldest(neighbours, false)
	case cs.limits.Total > 0 && cs.strangers.Len()+cs.knownAll >= cs.limits.Total:
		cs.closed[CrowdedServer].Add(1)
		// Strangers are also those who have yet to say whose they are: an organization that
		// has most of all connections makes room for them.
		if leaves = cs.oldestOfMost(); leaves == nil {
			leaves = oldest(&cs.strangers, false)
		}
		if leaves == nil {
			leaves = oldest(&cs.strangers, true)
		}
		if leaves == nil {
			leaves = cs.oldestKnown()
		}
	default:
		return nil, true
	}
	return leaves, leaves != nil
}

// oldestOfMost returns the oldest that asks for nothing of an organization that has more than
// half of all connections; nil when none has, or all of its are busy.
func (cs *Connections) oldestOfMost() *seat {
	for org, seats := range cs.known {
		if org != uuid.Nil && seats.Len() > cs.limits.Total/2 {
			return oldest(seats, false)
		}
	}
	return nil
}

// oldestKnown returns the oldest that asks for nothing of the organization that has the most
// and has one; proxies, which carry the requests of many, come last.
func (cs *Connections) oldestKnown() (found *seat) {
	most := 0
	for org, seats := range cs.known {
		if org == uuid.Nil || seats.Len() <= most {
			continue
		}
		if s := oldest(seats, false); s != nil {
			found, most = s, seats.Len()
		}
	}
	if proxies := cs.known[uuid.Nil]; found == nil && proxies != nil {
		found = oldest(proxies, false)
	}
	return found
}

// oldest passes over those that are busy, unless they count too. They are no more than the
// requests that are served at once.
func oldest(of *list.List, busyToo bool) *seat {
	for e := of.Front(); e != nil; e = e.Next() {
		if s := e.Value.(*seat); busyToo || !s.busy.Load() {
			return s
		}
	}
	return nil
}

func (cs *Connections) add(s *seat) {
	if s.isKnown.Load() {
		seats := cs.known[s.org]
		if seats == nil {
			seats = list.New()
			cs.known[s.org] = seats
		}
		s.place = seats.PushBack(s)
		cs.knownAll++
		return
	}
	here := cs.at[s.network]
	if here == nil {
		here = list.New()
		cs.at[s.network] = here
	}
	s.place, s.inHere = cs.strangers.PushBack(s), here.PushBack(s)
}

func (cs *Connections) remove(s *seat) {
	if s.inHere == nil {
		seats := cs.known[s.org]
		if seats.Remove(s.place); seats.Len() == 0 {
			delete(cs.known, s.org)
		}
		cs.knownAll--
		s.place = nil
		return
	}
	cs.strangers.Remove(s.place)
	here := cs.at[s.network]
	if here.Remove(s.inHere); here.Len() == 0 {
		delete(cs.at, s.network)
	}
	s.place, s.inHere = nil, nil
}

// leave is for a connection that is closed, by whomever.
func (s *seat) leave() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.place != nil {
		s.of.remove(s)
	}
}

// recognize is for a connection that carried good credentials of an organization's. It stays
// among that one's: a client sends the same with each request.
func (s *seat) recognize(org uuid.UUID) {
	if s == nil || s.isKnown.Load() {
		return
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.place == nil || s.isKnown.Load() {
		return
	}
	s.of.remove(s)
	s.org = org
	s.isKnown.Store(true)
	s.of.add(s)
}
