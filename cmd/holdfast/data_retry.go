package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/holdfast/holdfast/client"
)

// try repeats what fails because the server is away, once it has answered at all.
func (t *tailing) try(ctx context.Context, attempt func() error) error {
	for {
		err := attempt()
		if err == nil && t.away > 0 {
			fmt.Fprintln(t.a.stderr, "holdfast: the server answers again")
		}
		if err == nil || ctx.Err() != nil || !t.answered || !passing(err) {
			t.answered, t.away = t.answered || err == nil, 0
			return err
		}
		if t.away++; t.away == 1 {
			fmt.Fprintf(t.a.stderr, "holdfast: %v; trying again\n", inPlainWords(err))
		}
		if err := client.Pause(ctx, t.wait(err)); err != nil {
			return err
		}
	}
}

// wait is longer each time, or what the server asks for.
func (t *tailing) wait(err error) time.Duration {
	if r, ok := errors.AsType[*client.Error](err); ok && r.RetryAfter > 0 {
		return min(r.RetryAfter, tailPatience)
	}
	return min(t.interval<<min(t.away-1, 6), tailPatience)
}

// passing says whether an error may go away by itself.
func passing(err error) bool {
	if r, ok := errors.AsType[*client.Error](err); ok {
		return r.Status == http.StatusTooManyRequests || r.Status >= 502 && r.Status <= 504
	}
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, client.ErrCutOff)
}
