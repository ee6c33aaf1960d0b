package middleware

import (
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/internal/pause"
	"github.com/holdfast/holdfast/internal/spans"
	"github.com/holdfast/holdfast/internal/turns"
)

// longestWait caps what a client is told to wait for its next request.
const longestWait = 5 * time.Second

// Limits is what one organization may ask for, and what all may together. Zero is no limit
// each.
type Limits struct {
	// Requests and States are requests a minute of an organization that has no limits of
	// its own: to uploads and data, and to states. A burst is a minute's worth.
	Requests, States int
	// Nodes is how many share these and each organization's own limits, and those of Executors,
	// each admitting its part; 0 is as good as 1.
	Nodes int
	// Saved is for how long what an organization leaves of States is saved up beyond that, for
	// its operations.
	Saved time.Duration
	// Patience is how long a request beyond them waits for its turn before it is refused; 0 has
	// it refused at once.
	Patience time.Duration
	// Executors is requests a minute of those who execute an organization's runs.
	Executors int
	// InFlight is how many requests are worked on at once.
	InFlight int
	// Begun is how many requests may have begun at once, those included whose bodies are
	// still arriving: each takes up a connection.
	Begun int
	// Memory is where the bytes of request bodies are acquired, as are those of all other
	// bodies that are in memory; nil bounds nothing.
	Memory *budget.Budget
	Pace   Pace
}

// Usual returns the limits of an organization that has none of its own.
func (l Limits) Usual() auth.Limits { return auth.Limits{Requests: l.Requests, States: l.States} }

// Reason is why a request was refused, or would have been.
type Reason int

// The reasons.
const (
	Rate     Reason = iota // too many requests of its organization
	InFlight               // too many requests at once
	Bytes                  // too many bytes at once
	Slowness               // its body arrived too slowly
	Begun                  // too many requests have begun
	reasons
	// lookups is how many locks are looked up at once for requests that would be refused, one
	// for each organization.
	lookups = 64
)

// String returns the reason as it stands in metrics.
func (r Reason) String() string { return [...]string{"rate", "in_flight", "bytes", "slow", "begun"}[r] }

// Reasons returns all of them.
func Reasons() []Reason { return []Reason{Rate, InFlight, Bytes, Slowness, Begun} }

// Guard keeps organizations from using up what they share. It is safe for concurrent use.
//
// Who holds a state's lock is spared: the rate limit doesn't hold for what it sends under
// the lock, and a tenth of the rest is kept for it.
type Guard struct {
	requests, states *rates
	executors        *rates
	slots, bytes     *budget.Budget
	begun            *budget.Budget
	pace             Pace
	now              func() time.Time
	asking           *turns.Turns // to look up a lock that may spare a request
	refused, spared  [reasons]atomic.Uint64
	held             atomic.Uint64
}

// NewGuard returns a guard. now gives the time of rate limits and paces.
func NewGuard(l Limits, now func() time.Time) *Guard {
	if l.Memory == nil {
		l.Memory = NewMemory(0)
	}
	g := &Guard{
		requests:  newRates(l.Requests, l.Patience, func(own auth.Limits) int { return own.Requests }, now),
		states:    newRates(l.States, l.Patience, func(own auth.Limits) int { return own.States }, now),
		executors: newRates(l.Executors, l.Patience, func(auth.Limits) int { return 0 }, now),
		slots:     budget.New(int64(l.InFlight), "requests are in flight"),
		bytes:     l.Memory,
		begun:     budget.New(int64(l.Begun), "requests have begun"),
		pace:      l.Pace,
		now:       now,
		asking:    turns.New(lookups, 1),
	}
	g.states.saved = l.Saved
	for _, r := range []*rates{g.requests, g.states, g.executors} {
		r.nodes = l.Nodes
	}
	return g
}

// NewMemory returns the budget of all bodies in memory, in bytes; 0 bounds nothing.
func NewMemory(bytes int64) *budget.Budget {
	return budget.New(bytes, "bytes of bodies are in memory")
}

// Refused returns how many requests were refused for the reason.
func (g *Guard) Refused(r Reason) uint64 {
	switch r {
	case InFlight:
		return g.slots.Refused()
	case Bytes:
		return g.bytes.Refused()
	case Begun:
		return g.begun.Refused()
	}
	return g.refused[r].Load()
}

// Spared returns how many lock holders passed who would have been refused otherwise.
func (g *Guard) Spared(r Reason) uint64 { return g.spared[r].Load() }

// Left returns how many requests an organization may send at once now: to uploads and data, to
// states, and beside these how many of operations; 0 where there is no limit.
func (g *Guard) Left(p auth.Principal) (requests, states, operations int) {
	requests, _ = g.requests.left(p)
	states, operations = g.states.left(p)
	return requests, states, operations
}

// Held returns how many requests had to wait for their organization's turn.
func (g *Guard) Held() uint64 { return g.held.Load() }

// InUse returns how many requests are worked on now, and how many bytes are in flight.
func (g *Guard) InUse() (requests, bytes int64) { return g.slots.InUse(), g.bytes.InUse() }

// Claim finds the ID of a lock in a request, and returns what asks whether that lock is
// held; nil where the request carries none, or none that could help it.
type Claim func(*gin.Context) (isHeld func() bool)

// Requests lets a request of an organization pass that is within its limit for uploads and
// data. It stands behind Authenticate, and in front of Admit.
func (g *Guard) Requests() gin.HandlerFunc { return g.limit(g.requests, anyRequest, nil, true) }

// States is Requests for states. Who holds a lock passes always; claim is asked only about
// those who would be refused.
func (g *Guard) States(claim Claim) gin.HandlerFunc {
	return g.limit(g.states, anyRequest, claim, true)
}

// Operations is States for what each operation of a client begins and ends with: it reads the state,
// locks it and unlocks it. What the organization has saved up is for these, so that a plan of each
// of its projects at once is let in; what writes, lists and searches find left is the same as ever.
func (g *Guard) Operations(claim Claim) gin.HandlerFunc {
	return g.limit(g.states, operation, claim, true)
}

// Executors is Requests for those who execute runs, within a limit of their own that spares nobody:
// people are not kept out by what agents send, nor others by what a mad agent does. Whoever is
// refused comes again.
func (g *Guard) Executors() gin.HandlerFunc { return g.limit(g.executors, anyRequest, nil, false) }

// limit has the token of a run count as a lock that is held: what its executor and its tool send
// belongs to work that has begun. spares says whether that helps against the rate limit.
func (g *Guard) limit(r *rates, d demand, claim Claim, spares bool) gin.HandlerFunc {
	return func(c *gin.Context) {
		isRun := Principal(c).Run != nil
		p := &admission{guard: g, org: Principal(c).Org, claim: claim, asked: isRun, holder: isRun}
		// The one place that gives back what the request takes, whatever becomes of it.
		defer p.end()
		infoOf(c).admission = p
		if !p.acquire(c, g.begun, &p.begun, 1, Begun) { // before it is counted: nothing was done for it
			Fail(c, g.begun.Refuse())
			return
		}
		s := r.count(Principal(c), d)
		s.setHeaders(c)
		spared := spares && s.wait+s.delay > 0 && p.spared(c, Rate)
		if s.wait > 0 && !spared {
			Fail(c, p.refuse(Rate, s.fault()))
			return
		}
		if s.delay > 0 && !spared {
			if err := g.hold(c, s); err != nil {
				Fail(c, err)
				return
			}
		}
		c.Next()
	}
}

// hold has a request wait for what its organization's limit gives back next. It takes up nothing
// but its connection, and a place among the requests that have begun, meanwhile. Who leaves has
// used up the turn all the same.
func (g *Guard) hold(c *gin.Context, s standing) error {
	g.held.Add(1)
	infoOf(c).lines.Add(slog.Int64("rate_waited_ms", s.delay.Milliseconds()))
	ctx, end := spans.Start(c.Request.Context(), "wait for the rate")
	err := pause.For(ctx, s.delay)
	end(err)
	return err
}

// setHeaders tells a client whose organization has less than a quarter of its limit left.
// Until then nobody needs to know, and each header costs every answer.
func (s standing) setHeaders(c *gin.Context) {
	if s.remaining*4 >= s.limit {
		return
	}
	infoOf(c).lines.Add(slog.String("rate_left", fmt.Sprintf("%d of %d", s.remaining, s.limit)))
	c.Header("RateLimit-Limit", strconv.Itoa(s.limit))
	c.Header("RateLimit-Remaining", strconv.Itoa(s.remaining))
	c.Header("RateLimit-Reset", strconv.Itoa(int(math.Ceil(s.whole.Seconds()))))
}

func (s standing) fault() *fault.Error {
	f := fault.New(fault.RateLimited, "the organization has used up its %d requests a minute; nothing was done", s.limit)
	f.RetryAfter = min(s.wait, longestWait)
	return f
}
