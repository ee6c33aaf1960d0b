package main

import (
	"context"
	"errors"
	"time"
)

const (
	// look is how long a process is watched at a time, and idle how many seconds of the
	// processor it may use meanwhile: one tick of those that /proc counts in.
	look = 250 * time.Millisecond
	idle = 0.011
	// rests is how many of these looks must find it idle, one after the other: for longer
	// than the 5 seconds in which the index of resources looks for what has changed.
	rests = 22
	// longestQuiet is how long it may be busy with itself.
	longestQuiet = 2 * time.Minute
)

// quiet waits until the process rests. After a write a server goes on by itself, with its
// index of resources, which belongs to what writes cost; reads are measured without.
func (s *side) quiet(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, longestQuiet, errors.New("the server does not come to rest"))
	defer cancel()
	for found := 0; found < rests; {
		before := s.usage().CPU
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(look):
		}
		if found++; s.usage().CPU-before > idle {
			found = 0
		}
	}
	return s.err
}
