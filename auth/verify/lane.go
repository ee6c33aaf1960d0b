package verify

import (
	"container/list"

	"github.com/google/uuid"
)

// crowd bounds how many may wait at once: at one place, for one organization, of one
// client, and in all.
type crowd struct{ place, org, client, total int }

// lane is where those of one rank wait for the gate. It is not safe for concurrent use.
//
// They stand in two rotas, one over organizations and one over clients, which are served
// alternately. So the first of a client's queue waits for at most two checks for each
// other client with somebody waiting, and one more, beyond those that are running; the
// same holds for organizations. However many checks a flood asks for, it costs others the
// fewer of its clients and its organizations.
//
// At a limit the longest queue loses its last waiter to a newcomer with a shorter one.
// So a caller of whose client nobody else waits is turned away only by a flood from many
// networks: at least limit.org other clients with one check each wait for its organization
// then, or limit.total in all. A caller behind the same address as a flood shares the
// flood's queue, and may be turned away in its stead.
type lane struct {
	limit    crowd
	waiting  int
	at       map[place]int
	byOrg    rota[uuid.UUID]
	byClient rota[string]
	clients  bool // whose rota is served next
}

type waiter struct {
	visit
	turn             chan struct{} // closed when it may go or is turned away
	away             bool          // it is turned away; set before turn is closed
	inOrg, inClients *list.Element
}

func newLane(limit crowd) lane {
	return lane{limit: limit, at: make(map[place]int), byOrg: newRota[uuid.UUID](), byClient: newRota[string]()}
}

// makeRoom reports whether a newcomer may wait at p, after turning somebody else away
// where that is needed.
func (l *lane) makeRoom(p place) bool {
	switch {
	case l.at[p] >= l.limit.place || l.byClient.length(p.client) >= l.limit.client:
		return false
	case l.byOrg.length(p.org) >= l.limit.org:
		return l.turnAway(l.lastOfFullestPlace(p))
	case l.waiting >= l.limit.total:
		return l.turnAway(l.byClient.lastOfLongest(l.byClient.length(p.client) + 1))
	}
	return true
}

// lastOfFullestPlace returns the last waiter of the place where most wait for p's
// organization; nil when a newcomer at p would have as many around it.
func (l *lane) lastOfFullestPlace(p place) *waiter {
	fullest, most := p, l.at[p]+1
	for other, n := range l.at {
		if other.org == p.org && n > most {
			fullest, most = other, n
		}
	}
	if fullest == p {
		return nil
	}
	return l.byOrg.last(p.org, func(w *waiter) bool { return w.place == fullest })
}

// turnAway makes w's enter fail. It reports false when there is no w.
func (l *lane) turnAway(w *waiter) bool {
	if w == nil {
		return false
	}
	l.remove(w)
	w.away = true
	close(w.turn)
	return true
}

func (l *lane) join(v visit) *waiter {
	w := &waiter{visit: v, turn: make(chan struct{})}
	w.inOrg, w.inClients = l.byOrg.join(v.org, w), l.byClient.join(v.client, w)
	l.waiting++
	l.at[v.place]++
	return w
}

func (l *lane) remove(w *waiter) {
	l.byOrg.leave(w.org, w.inOrg)
	l.byClient.leave(w.client, w.inClients)
	l.waiting--
	if l.at[w.place]--; l.at[w.place] == 0 {
		delete(l.at, w.place)
	}
}

// serve takes out the waiter whose turn it is; it reports false when nobody waits.
func (l *lane) serve() bool {
	w := l.byOrg.next()
	if l.clients {
		w = l.byClient.next()
	}
	if w == nil {
		return false
	}
	l.clients = !l.clients
	l.remove(w)
	// A turn in one rota is a turn in both, or a flood would be served once by each.
	l.byOrg.served(w.org)
	l.byClient.served(w.client)
	close(w.turn)
	return true
}
