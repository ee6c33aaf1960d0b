package apply

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/holdfast/holdfast/engine/oplog"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/internal/pause"
)

// Policy says how often and how soon a call is tried again.
type Policy struct {
	Attempts  int
	Base, Cap time.Duration
	Timeout   time.Duration // of one call that only asks, which is made again after it
	Change    time.Duration // of one call that creates, changes or deletes, which isn't: it may be done; 0 for a day
	Jitter    func() float64

	late error // what a call that took too long fails with, if not with errTimeout
}

// longestChange is for how long a provider may create, change or delete one object. Some take hours, and end by
// themselves after what the configuration says, so that this only ends what would hang forever.
const longestChange = 24 * time.Hour

// longestWait is how long a call is waited for before it is made again. Who is told to come back later than that comes
// back by applying again, and holds no lock meanwhile.
const longestWait = 10 * time.Minute

// DefaultPolicy tries five times, after about 1, 2, 4 and 8 seconds.
func DefaultPolicy() Policy {
	return Policy{Attempts: 5, Base: time.Second, Cap: time.Minute, Timeout: 5 * time.Minute, Change: longestChange,
		Jitter: func() float64 { return 0.5 + rand.Float64() }}
}

// changing is the policy of calls that create, change or delete.
func (p Policy) changing() Policy {
	p.Timeout = cmp.Or(p.Change, longestChange)
	p.late = &provider.Fault{Summary: "the provider took too long",
		Detail: "it was given " + p.Timeout.String() + ", and whether it is done can't be told: look before applying again"}
	return p
}

// final is an error after which a call isn't made again, whatever it says itself.
type final struct{ error }

// Unwrap gives the error that it is.
func (f final) Unwrap() error { return f.error }

// Delay is how long to wait after a failed attempt; the first is 1. A provider that names a time is heeded.
func (p Policy) Delay(attempt int, err error) time.Duration {
	d := p.Cap
	if shift := attempt - 1; shift < 30 {
		d = min(p.Base<<shift, p.Cap)
	}
	d = time.Duration(float64(d) * p.Jitter())
	var fault *provider.Fault
	if errors.As(err, &fault) {
		d = max(d, time.Duration(fault.After)*time.Second)
	}
	return d
}

// Retryable reports whether trying again can help: after a timeout, a 429 and a fault of the server's, and
// what the provider itself calls transient; never after what says no. What is uncertain isn't retried.
func Retryable(err error) bool {
	if _, ok := errors.AsType[final](err); ok {
		return false
	}
	if errors.Is(err, errTimeout) {
		return true
	}
	var fault *provider.Fault
	if !errors.As(err, &fault) {
		return false
	}
	switch {
	case fault.Code == 0:
		return fault.Transient
	case fault.Code == 429 || fault.Code == 408 || fault.Code >= 500:
		return true
	}
	return false
}

var errTimeout = errors.New("the provider took too long")

// Do calls f until it succeeds, says no for good, or the attempts are used up. It returns how often it was
// tried again.
func (p Policy) Do(ctx context.Context, f func(context.Context) error) (retries int, err error) {
	for attempt := 1; ; attempt++ {
		err := p.once(ctx, f)
		if err == nil || attempt >= p.Attempts || ctx.Err() != nil || !Retryable(err) {
			return attempt - 1, err
		}
		delay := p.Delay(attempt, err)
		if delay > longestWait {
			return attempt - 1, err
		}
		oplog.From(ctx, "retry").WarnContext(ctx, "a call has failed and is made again", "attempt", attempt,
			"after_ms", delay.Milliseconds(), "exception", err.Error())
		if waited := pause.For(ctx, delay); waited != nil {
			return attempt - 1, err
		}
	}
}

func (p Policy) once(ctx context.Context, f func(context.Context) error) error {
	call, cancel := context.WithTimeoutCause(ctx, p.Timeout, errTimeout)
	defer cancel()
	err := f(call)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(call), errTimeout) {
		return cmp.Or(p.late, errTimeout)
	}
	return err
}
