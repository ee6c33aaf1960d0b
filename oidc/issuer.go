package oidc

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	// refreshPause is the least time between two fetches from an issuer. So tokens with
	// made-up key IDs can't make us hammer it.
	refreshPause = 5 * time.Second
	// maxStale is how long keys still count, after they were last fresh, while the issuer
	// can't be asked.
	maxStale = time.Hour
	// maxWaiting is how many may wait for one issuer's keys. The next is told to come back,
	// so that a dead issuer's tokens don't fill the server.
	maxWaiting = 32
)

var (
	// errUnknownKey says that the issuer was asked and has no such key.
	errUnknownKey = errors.New("it was signed with a key that its issuer doesn't have")
	errCrowded    = errors.New("too many are waiting for the issuer's keys")
)

// unavailableError says that an issuer's keys can't be had, and when to ask again.
type unavailableError struct {
	cause error
	retry time.Duration
}

func (e unavailableError) Error() string { return "the issuer's keys can't be had: " + e.cause.Error() }

func (e unavailableError) Unwrap() error { return e.cause }

// issuer keeps one issuer's keys. It is safe for concurrent use.
type issuer struct {
	now   func() time.Time
	start func(done func(keySet, time.Duration, error)) error // a fetch, in a goroutine

	mu      sync.Mutex
	keys    keySet        // that were had last; nil before
	until   time.Time     // when keys stop being fresh
	asked   time.Time     // when the last fetch ended
	failure error         // of the last fetch
	flight  chan struct{} // closed when the fetch that is under way ends; else nil
	waiting int
}

// key returns the key that a token names. It waits for a fetch when it must, as long as ctx
// lasts. The error is errUnknownKey, an unavailableError, or ctx's.
func (i *issuer) key(ctx context.Context, id string, algorithm jose.SignatureAlgorithm) (jose.JSONWebKey, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if key, ok := i.keys.find(id, algorithm); ok && i.now().Before(i.until) {
		return key, nil
	}
	trouble := i.refresh(ctx)
	if err := ctx.Err(); err != nil {
		return jose.JSONWebKey{}, err
	}
	key, ok := i.keys.find(id, algorithm)
	switch {
	case ok && i.now().Before(i.until.Add(maxStale)):
		return key, nil
	case trouble != nil:
		return jose.JSONWebKey{}, trouble
	}
	return jose.JSONWebKey{}, errUnknownKey
}

// refresh sees to it that the issuer was asked lately: it starts a fetch, or joins the one
// that is under way, unless the last one has only just ended. It is called with mu held,
// and lets go of it while it waits.
func (i *issuer) refresh(ctx context.Context) error {
	if i.flight == nil && !i.now().Before(i.asked.Add(refreshPause)) {
		if err := i.start(i.land); err != nil {
			return unavailableError{err, time.Second}
		}
		i.flight = make(chan struct{})
	}
	if i.flight != nil {
		if i.waiting >= maxWaiting {
			return unavailableError{errCrowded, time.Second}
		}
		i.wait(ctx, i.flight)
	}
	if i.failure != nil {
		return unavailableError{i.failure, i.asked.Add(refreshPause).Sub(i.now())}
	}
	return nil
}

func (i *issuer) wait(ctx context.Context, flight <-chan struct{}) {
	i.waiting++
	i.mu.Unlock()
	select {
	case <-flight:
	case <-ctx.Done():
	}
	i.mu.Lock()
	i.waiting--
}

// land records what a fetch brought.
func (i *issuer) land(keys keySet, fresh time.Duration, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.asked, i.failure = i.now(), err
	if err == nil {
		i.keys, i.until = keys, i.asked.Add(fresh)
	}
	close(i.flight)
	i.flight = nil
}
