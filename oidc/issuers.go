package oidc

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

const (
	// maxIssuers is how many issuers' keys are kept; beyond that those that were needed
	// least recently are asked for again.
	maxIssuers = 1024
	// maxFetches is how many fetches run at once.
	maxFetches = 16
)

var errManyFetches = errors.New("too many issuers are being asked")

// issuers finds the keys of those issuers that the rules name. It is safe for concurrent
// use.
type issuers struct {
	log    *slog.Logger
	now    func() time.Time
	client *http.Client

	ctx     context.Context // of all fetches; ended by close
	cancel  context.CancelFunc
	running chan struct{} // a place for each fetch
	fetches sync.WaitGroup

	mu    sync.Mutex
	known *lru.Cache[string, *issuer]
}

func newIssuers(log *slog.Logger, now func() time.Time, client *http.Client) (*issuers, error) {
	known, err := lru.New[string, *issuer](maxIssuers)
	ctx, cancel := context.WithCancel(context.Background())
	return &issuers{
		log: log, now: now, client: client, ctx: ctx, cancel: cancel,
		running: make(chan struct{}, maxFetches), known: known,
	}, err
}

// of returns the issuer with this URL, which must be one that a rule names.
func (s *issuers) of(address string) *issuer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, ok := s.known.Get(address); ok {
		return i
	}
	i := &issuer{now: s.now, start: func(done func(keySet, time.Duration, error)) error { return s.start(address, done) }}
	s.known.Add(address, i)
	return i
}

// start fetches an issuer's keys in a goroutine of its own: who waits for them may leave
// before they come. It fails when there is no place for one more.
func (s *issuers) start(address string, done func(keySet, time.Duration, error)) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	select {
	case s.running <- struct{}{}:
	default:
		return errManyFetches
	}
	s.fetches.Go(func() {
		defer func() { <-s.running }()
		done(s.fetch(address))
	})
	return nil
}

func (s *issuers) fetch(address string) (keySet, time.Duration, error) {
	ctx, cancel := context.WithTimeout(s.ctx, fetchTimeout)
	defer cancel()
	keys, fresh, err := fetchKeys(ctx, s.client, address)
	if err != nil {
		s.log.WarnContext(ctx, "an issuer's keys can't be had", slog.String("issuer", address),
			slog.String("error", err.Error()))
		return nil, 0, err
	}
	s.log.InfoContext(ctx, "issuer's keys fetched", slog.String("issuer", address),
		slog.Int("keys", len(keys)), slog.Duration("fresh", fresh))
	return keys, fresh, nil
}

// close breaks off what is being fetched and waits until nothing is.
func (s *issuers) close() {
	s.mu.Lock()
	s.cancel()
	s.mu.Unlock()
	s.fetches.Wait()
	s.client.CloseIdleConnections()
}
