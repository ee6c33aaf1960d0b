package linear

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/state/statemodel"
)

// tries is how often a call without an answer is sent again, each time through any node.
const tries = 4

// Workload is what clients do.
type Workload struct {
	// Nodes are clients of the nodes, with the credentials of one organization.
	Nodes   []*client.Client
	Clients int
	// Hot is how many states are in use at once. Each is left for another one after Length
	// calls: short histories are decided sooner, and as likely to show a fault.
	Hot, Length int
	// Calls is how many are made in all, at least; they end sooner when the context does.
	Calls int
	// Patience is how long a call may take.
	Patience time.Duration
	Seed     uint64
}

// Run has the clients do their work, and returns what they were told once they are done.
func (w Workload) Run(ctx context.Context) *History {
	h := NewHistory()
	states := newHot(h, w.Hot, w.Length)
	var left atomic.Int64
	left.Store(int64(w.Calls))
	var serials atomic.Uint64
	var all sync.WaitGroup
	callers := make([]*caller, w.Clients)
	for i := range callers {
		c := &caller{Workload: w, history: h, number: i, serials: &serials, random: rand.New(rand.NewPCG(w.Seed, uint64(i)))}
		callers[i] = c
		all.Go(func() {
			for ctx.Err() == nil && left.Add(-1) >= 0 {
				c.work(ctx, states.pick(c.random))
			}
		})
	}
	all.Wait()
	w.readVersions(ctx, h, callers)
	return h
}

// hot are the names of the states in use.
type hot struct {
	history *History
	length  int

	mu    sync.Mutex
	names []string
	next  int
}

func newHot(h *History, n, length int) *hot {
	s := &hot{history: h, length: length, names: make([]string, n)}
	for i := range s.names {
		s.names[i] = s.fresh()
	}
	return s
}

func (s *hot) fresh() string {
	s.next++
	return fmt.Sprint("hot-", s.next)
}

func (s *hot) pick(random *rand.Rand) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := random.IntN(len(s.names))
	if s.history.length(s.names[i]) >= s.length {
		s.names[i] = s.fresh()
	}
	return s.names[i]
}

// caller is one client. It remembers the lock that it may hold of the state that it came to last.
type caller struct {
	Workload
	history *History
	number  int
	serials *atomic.Uint64
	random  *rand.Rand
	name    string // of the state
	id      string // of the lock; empty for none
	locks   int
	version uint64 // the newest that it has heard of
}

// work makes the next call, and makes it again while nobody answers.
func (c *caller) work(ctx context.Context, name string) {
	if name != c.name {
		c.finish(ctx)
		c.name, c.id, c.version = name, "", 0
	}
	c.insist(ctx, c.choose())
}

// finish releases a lock that others would wait for.
func (c *caller) finish(ctx context.Context) {
	if c.id != "" {
		c.insist(ctx, Call{Op: statemodel.Op{Kind: "unlock", ID: c.id}})
	}
}

func (c *caller) insist(ctx context.Context, call Call) { c.repeat(ctx, call, tries) }

func (c *caller) repeat(ctx context.Context, call Call, tries int) {
	for range tries {
		told := c.history.record(c.number, c.name, call, func() Told { return c.once(ctx, call) })
		c.learn(call, told)
		if !told.Unknown || ctx.Err() != nil {
			return
		}
		_ = client.Pause(ctx, time.Duration(c.random.IntN(100))*time.Millisecond) // an ended ctx ends the next try
	}
}

// once sends the call through any node.
func (c *caller) once(ctx context.Context, call Call) Told {
	ctx, cancel := context.WithTimeout(ctx, c.Patience)
	defer cancel()
	return do(ctx, c.Nodes[c.random.IntN(len(c.Nodes))].Once(), c.name, call)
}

// learn remembers what a client would.
func (c *caller) learn(call Call, told Told) {
	c.version = max(c.version, told.Number)
	switch {
	case call.Kind == "lock" && told.Code == "":
		c.id = call.ID // granted, or perhaps
	case call.Kind == "unlock" && !told.Unknown, call.Release && !told.Unknown && told.Code == "":
		c.id = ""
	}
}

// choose leans to what a client does: lock, read, write, unlock.
func (c *caller) choose() Call {
	kind := func(kind string) Call { return Call{Op: statemodel.Op{Kind: kind}} }
	dice := c.random.IntN(100)
	switch {
	case dice < 35:
		return kind("get")
	case dice < 40:
		return kind("holder")
	case dice < 42:
		return kind("force")
	case dice < 44:
		return kind("undelete")
	case dice < 47:
		return c.under(kind("delete"))
	case dice < 52 && c.version > 0:
		call := c.under(kind(Rollback))
		call.Version = 1 + c.random.Uint64N(c.version)
		return call
	case dice < 60:
		return c.write(kind("put"))
	case c.id == "":
		c.locks++
		call := kind("lock")
		call.ID = fmt.Sprintf("lock-%d-%d", c.number, c.locks)
		call.Who = call.ID
		return call
	case dice < 85:
		return c.write(c.under(kind("put")))
	default:
		return c.under(kind("unlock"))
	}
}

// under has the call name the lock that the client holds, as it thinks.
func (c *caller) under(call Call) Call {
	call.ID = c.id
	return call
}

func (c *caller) write(call Call) Call {
	call.Body = fmt.Sprintf("c%d@%d", c.number, c.serials.Add(1))
	call.Release = call.ID != "" && c.random.IntN(8) == 0
	return call
}
