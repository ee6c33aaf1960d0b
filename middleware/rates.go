package middleware

import (
	"math"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"github.com/holdfast/holdfast/auth"
)

// whole is how long an empty bucket takes to be full again, whatever its limit: a burst is
// a minute's worth.
const whole = time.Minute

// demand is what a request may draw on.
type demand int

const (
	anyRequest demand = iota // the minute's worth that all requests share
	operation                // what was saved up beyond it, and then that
)

// rates counts the requests of each organization against its limit. It is safe for
// concurrent use.
//
// A bucket that nobody used for a minute, and for as long as may be saved up, is full, and so
// is a new one: it need not be kept. Each time so much has passed, the buckets of the one
// before are dropped, all at once, unless they were used since. So there are never more than
// there were organizations within the last twice that time, and dropping a million of them
// takes no longer than dropping one. (An LRU would keep fewer for a little while; but it takes
// 100 bytes more for each, has to evict them one by one while others wait, and Go's maps don't
// give back what they grew to.)
type rates struct {
	standard int                   // requests a minute; 0 for no limit
	nodes    int                   // that share each limit; below 2, this one has it all
	patience time.Duration         // how long a request may wait for its turn
	saved    time.Duration         // for how long what is not used is saved up beyond a minute's worth, for operations
	own      func(auth.Limits) int // which of an organization's limits this is
	now      func() time.Time

	mu                sync.Mutex
	turned            time.Time
	current, previous map[uuid.UUID]*bucket
}

// bucket has what an organization may send at once: a minute's worth for all that it asks for,
// and what has run over since, which is saved up for its operations.
type bucket struct {
	*rate.Limiter
	saved float64
	seen  time.Time // when it was looked at last
}

// fill saves up to most of what has run over since the bucket was looked at last.
func (b *bucket) fill(now time.Time, most float64) {
	over := b.TokensAt(b.seen) + now.Sub(b.seen).Seconds()*float64(b.Limit()) - float64(b.Burst())
	b.saved, b.seen = min(b.saved+max(over, 0), most), now
}

func newRates(standard int, patience time.Duration, own func(auth.Limits) int, now func() time.Time) *rates {
	return &rates{standard: standard, patience: patience, own: own, now: now}
}

// standing is how an organization stands after a request.
type standing struct {
	limit     int // requests a minute; 0 for none, and then nothing else is set
	remaining int
	whole     time.Duration // until nothing of the limit is used
	wait      time.Duration // until the next request passes; 0 if this one does
	// delay is how long this request, which passes, must be held before: its organization has
	// used up what it has, and this is what comes back next.
	delay time.Duration
}

// count takes a request off what the organization has saved up, if it is an operation's, or else
// off what it has left, or off what comes back within the patience, so that few organizations are
// ever refused: a crowd that is a little too fast is slowed down. As many wait as come back within
// the patience.
func (r *rates) count(p auth.Principal, d demand) standing {
	limit := r.limit(p.Limits)
	if limit <= 0 {
		return standing{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now() // behind the lock, so that it never goes back
	bucket := r.bucket(p.Org, limit, now)
	if d == operation && bucket.saved >= 1 {
		bucket.saved--
		tokens := bucket.TokensAt(now)
		return standing{limit: limit, remaining: wholeTokens(tokens + bucket.saved),
			whole: timeOf(float64(limit)-tokens, limit)}
	}
	reserved := bucket.ReserveN(now, 1)
	delay := reserved.DelayFrom(now)
	if delay > r.patience {
		reserved.CancelAt(now)
	}
	tokens := bucket.TokensAt(now)
	s := standing{limit: limit, remaining: wholeTokens(tokens), whole: timeOf(float64(limit)-tokens, limit)}
	if delay > r.patience {
		s.wait = max(timeOf(1-tokens, limit)-r.patience, 1)
	} else {
		s.delay = delay
	}
	return s
}

// left is how many requests an organization may send at once now, and how many beside them if they
// are operations'; 0 where there is no limit.
func (r *rates) left(p auth.Principal) (all, operations int) {
	limit := r.limit(p.Limits)
	if limit <= 0 {
		return 0, 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	b := r.bucket(p.Org, limit, now)
	return wholeTokens(b.TokensAt(now)), wholeTokens(b.saved)
}

// wholeTokens rounds down what a bucket has, but not what floats have lost; a bucket out of which
// more was promised than it has is empty.
func wholeTokens(tokens float64) int { return max(int(tokens+1e-6), 0) }

// limit is this node's part of an organization's.
func (r *rates) limit(own auth.Limits) int {
	limit := r.own(own) // which may be auth.Unlimited
	if limit == 0 {
		limit = r.standard
	}
	if limit > 0 && r.nodes > 1 {
		return max(limit/r.nodes, 1) // a node that let nobody in would be none
	}
	return limit
}

// bucket finds or makes the organization's, with the limit that is in force now.
func (r *rates) bucket(org uuid.UUID, limit int, now time.Time) *bucket {
	r.turn(now)
	most := float64(perSecond(limit)) * r.saved.Seconds()
	b, ok := r.current[org]
	if !ok {
		if b, ok = r.previous[org]; !ok {
			b = &bucket{Limiter: rate.NewLimiter(perSecond(limit), limit), saved: most, seen: now}
		}
		r.current[org] = b
	}
	b.fill(now, most)
	if b.Burst() != limit {
		b.SetLimitAt(now, perSecond(limit))
		b.SetBurstAt(now, limit)
	}
	return b
}

// turn drops the buckets that were not used for so long that they are full.
func (r *rates) turn(now time.Time) {
	age, full := now.Sub(r.turned), whole+r.saved
	if age < full && r.current != nil {
		return
	}
	if r.previous = r.current; age >= 2*full {
		r.previous = nil
	}
	r.current, r.turned = map[uuid.UUID]*bucket{}, now
}

func perSecond(limit int) rate.Limit { return rate.Limit(float64(limit) / whole.Seconds()) }

// timeOf is how long so many tokens take to come back.
func timeOf(tokens float64, limit int) time.Duration {
	return time.Duration(math.Ceil(tokens / float64(limit) * float64(whole)))
}
