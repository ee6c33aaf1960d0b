package middleware

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"testing"

	"github.com/google/uuid"
)

// called is a connection from an address; closed tells whether it was.
type called struct {
	net.Conn
	from   string
	closed bool
}

func (c *called) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.from))
}

func (c *called) Close() error {
	c.closed = true
	return nil
}

// queue hands out connections that have called.
type queue struct {
	net.Listener
	calls []*called
}

func (q *queue) Accept() (net.Conn, error) {
	if len(q.calls) == 0 {
		return nil, net.ErrClosed
	}
	next := q.calls[0]
	q.calls = q.calls[1:]
	return next, nil
}

// hall is a server with bounded connections.
type hall struct {
	*Connections
	t     *testing.T
	queue *queue
	doors net.Listener
}

func newHall(t *testing.T, limits ConnectionLimits) *hall {
	h := &hall{Connections: NewConnections(limits), t: t, queue: &queue{}}
	h.doors = h.Listen(h.queue)
	return h
}

// call returns the connection, and as what it is served: nil if it is not.
func (h *hall) call(from string) (*called, net.Conn) {
	h.t.Helper()
	c := &called{from: from}
	h.queue.calls = append(h.queue.calls, c)
	served, err := h.doors.Accept()
	if err != nil {
		return c, nil
	}
	h.Track(served, http.StateNew)
	return c, served
}

func (h *hall) ask(served net.Conn, known bool) {
	h.Track(served, http.StateActive)
	if known {
		seatOfConn(served).recognize(uuid.New())
	}
}

// keep is a connection of an organization's that has asked and asks for nothing now.
func (h *hall) keep(org uuid.UUID) *called {
	h.t.Helper()
	c, served := h.call("192.0.2.1:1")
	if served == nil {
		return c
	}
	h.Track(served, http.StateActive)
	seatOfConn(served).recognize(org)
	h.Track(served, http.StateIdle)
	return c
}

// An organization that keeps ever more connections open makes room for them itself, however
// much older those of another one are.
func TestOrganizationsKeepTheirConnections(t *testing.T) {
	h, noisy := newHall(t, ConnectionLimits{Total: 20}), uuid.New()
	quiet := h.keep(uuid.New())
	var all []*called
	for range 100 {
		all = append(all, h.keep(noisy))
	}
	if quiet.closed {
		t.Error("another organization's connection made room")
	}
	for i, c := range all {
		if old := i < len(all)-19; c.closed != old {
			t.Fatalf("connection %d of %d: closed %v", i, len(all), c.closed)
		}
	}
	if late := h.keep(uuid.New()); late.closed {
		t.Error("there was no room for a third organization")
	}
	h.want(20, 0)
}

func (h *hall) want(known, strangers int) {
	h.t.Helper()
	if k, s := h.Open(); k != known || s != strangers {
		h.t.Errorf("%d known and %d strangers, want %d and %d", k, s, known, strangers)
	}
}

// When the house is full, the oldest idle stranger goes, and nobody with a key.
func TestStrangersMakeRoom(t *testing.T) {
	h := newHall(t, ConnectionLimits{Total: 4})
	owner, owners := h.call("192.0.2.1:1")
	h.ask(owners, true)
	h.Track(owners, http.StateIdle)
	busy, busys := h.call("192.0.2.2:1")
	h.ask(busys, false)
	first, _ := h.call("192.0.2.3:1")
	second, _ := h.call("192.0.2.4:1")
	h.want(1, 3)
	h.call("192.0.2.5:1")
	if !first.closed || second.closed || busy.closed || owner.closed {
		t.Errorf("closed: the first stranger %v, the second %v, a busy one %v, the owner %v", first.closed, second.closed,
			busy.closed, owner.closed)
	}
	h.call("192.0.2.6:1")
	if !second.closed || busy.closed || owner.closed {
		t.Error("the next one is not the second stranger")
	}
	h.want(1, 3)
	if h.Closed(CrowdedServer) != 2 || h.Closed(CrowdedAddress) != 0 {
		t.Errorf("%d and %d are counted", h.Closed(CrowdedServer), h.Closed(CrowdedAddress))
	}
}

// Busy strangers go before anybody with a key, idle connections of those before a
// newcomer, and when all of those with a key are busy, the newcomer.
func TestWhoGoesNext(t *testing.T) {
	h := newHall(t, ConnectionLimits{Total: 3})
	var owners [3]*called
	var serves [3]net.Conn
	for i := range owners {
		owners[i], serves[i] = h.call(fmt.Sprintf("192.0.2.%d:1", i))
		h.ask(serves[i], i > 0)
	}
	_, served := h.call("192.0.2.9:1")
	if !owners[0].closed {
		t.Error("a busy stranger stays")
	}
	h.ask(served, true)
	h.Track(serves[2], http.StateIdle)
	newcomer, served := h.call("192.0.2.10:1")
	if served == nil || newcomer.closed || !owners[2].closed || owners[1].closed {
		t.Error("an idle connection doesn't make room")
	}
	h.ask(served, true)
	if late, served := h.call("192.0.2.11:1"); served != nil || !late.closed {
		t.Error("a busy owner makes room for a newcomer")
	}
	h.want(3, 0)
}

// An address has its part, whoever else calls; one of IPv6 is a network. Those who showed a
// key don't count, nor do trusted proxies.
func TestAddressesHaveTheirPart(t *testing.T) {
	h := newHall(t, ConnectionLimits{Total: 100, PerAddress: 2,
		Trusted: []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}})
	for _, from := range []string{"192.0.2.1:%d", "[2001:db8:1:%d::1]:1", "[::ffff:192.0.2.7]:%d"} {
		first, _ := h.call(fmt.Sprintf(from, 1))
		second, _ := h.call(fmt.Sprintf(from, 2))
		third, served := h.call(fmt.Sprintf(from, 3))
		if !first.closed || second.closed || third.closed || served == nil {
			t.Errorf("%s: closed %v, %v, %v", from, first.closed, second.closed, third.closed)
		}
	}
	h.want(0, 6)
	for i := range 5 {
		c, served := h.call(fmt.Sprintf("192.0.2.2:%d", 1+i))
		if h.ask(served, true); c.closed {
			t.Error("one with a key goes")
		}
		h.call(fmt.Sprintf("198.51.100.1:%d", 1+i))
	}
	h.want(10, 6)
	for i := range 2 {
		_, served := h.call(fmt.Sprintf("192.0.2.3:%d", 1+i))
		h.ask(served, false)
	}
	if c, served := h.call("192.0.2.3:3"); served != nil || !c.closed {
		t.Error("an address whose connections are all busy gets one more")
	}
}

// Whatever happens in whatever order, what is counted is what is open, and nothing stays
// behind.
func TestConnectionsAreCountedOnce(t *testing.T) {
	h := newHall(t, ConnectionLimits{Total: 8, PerAddress: 3})
	random := rand.New(rand.NewPCG(1, 2))
	var served []net.Conn
	for range 5000 {
		if random.IntN(3) == 0 || len(served) == 0 {
			if _, one := h.call(fmt.Sprintf("192.0.2.%d:1", random.IntN(4))); one != nil {
				served = append(served, one)
			}
			continue
		}
		one := served[random.IntN(len(served))]
		switch random.IntN(4) {
		case 0:
			_ = one.Close()
			_ = one.Close()
		case 1:
			h.ask(one, random.IntN(2) == 0)
		default:
			h.Track(one, http.StateIdle)
		}
		open, there := 0, map[string]int{}
		for _, one := range served {
			if c := one.(seated).Conn.(*called); !c.closed {
				open++
				if !seatOfConn(one).isKnown.Load() {
					there[c.from]++
				}
			}
		}
		known, strangers := h.Open()
		if known+strangers != open || open > 8 || len(h.at) != len(there) {
			t.Fatalf("%d and %d are counted at %d addresses; %d are open at %v", known, strangers, len(h.at), open, there)
		}
		for address, n := range there {
			if n > 3 {
				t.Fatalf("%d strangers of %s", n, address)
			}
		}
	}
	for _, one := range served {
		_ = one.Close()
	}
	if h.want(0, 0); len(h.at) != 0 {
		t.Errorf("%d addresses stay behind", len(h.at))
	}
}
