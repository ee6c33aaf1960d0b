//go:build e2e

package test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/internal/suite"
)

const (
	victimCount    = 12
	guesserCount   = 3  // addresses
	guessersAtOnce = 20 // connections from each
	guessingTime   = 15 * time.Second
	honestPause    = 50 * time.Millisecond // between two requests of a client
	honestLimit    = 250 * time.Millisecond
	guessesAtOnce  = 10 // of one address; auth.failures_per_minute
)

// TestGuessing has guessers send wrong keys as fast as they can, at several organizations
// and at some that aren't there. Clients of those organizations work meanwhile: one each
// with a key that the server knows, and one that comes with a key that it has never seen.
// Every one of their requests succeeds, and their 99th percentile stays below 250 ms.
func TestGuessing(t *testing.T) {
	suite.Deep(t)
	if runtime.GOOS != "linux" {
		t.Skip("needs all of 127.0.0.0/8")
	}
	dir := t.TempDir()
	victims := addVictims(t, dir+"/auth.cfg")
	s := newServer(dir, tenantsEnviron(dir, "STORAGE_TYPE=memory"))
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.end(); err != nil {
			t.Errorf("%v\n%s", err, s.logTail(20))
		}
	})
	var got guessing
	for i := range victims {
		v := &victims[i]
		v.known.base, v.known.http = s.url, clientFrom(t, fmt.Sprint("127.1.0.", i+1))
		v.unseen.base, v.unseen.http = s.url, clientFrom(t, fmt.Sprint("127.3.0.", i+1))
		if status, _, err := v.known.call("POST"); err != nil || status != http.StatusOK {
			t.Fatalf("before anybody guesses: %d, %v", status, err)
		}
	}
	ctx, stop := context.WithTimeout(t.Context(), guessingTime)
	defer stop()
	var all sync.WaitGroup
	for i := range guesserCount {
		client := clientFrom(t, fmt.Sprint("127.2.0.", i+1))
		for range guessersAtOnce {
			all.Go(func() { got.guess(ctx, tenant{base: s.url, http: client}, victims) })
		}
	}
	for i, v := range victims {
		all.Go(func() { got.work(ctx, v.known, &got.known) })
		all.Go(func() {
			pause(ctx, guessingTime*time.Duration(i+1)/(victimCount+1))
			got.arrive(v.unseen)
			got.work(ctx, v.unseen, &got.arrived)
		})
	}
	all.Wait()
	got.check(t)
}

// victim is an organization with two keys; the unseen one is the first in its section.
type victim struct{ known, unseen *tenant }

func addVictims(t *testing.T, path string) (all []victim) {
	t.Helper()
	err := authfile.Create(t.Context(), path, func(d *authfile.Document) error {
		for i := range victimCount {
			id := uuid.New()
			if err := d.AddOrganization(id, fmt.Sprint("victim ", i)); err != nil {
				return err
			}
			unseen, err := addTenant(d, id)
			if err != nil {
				return err
			}
			known, err := addTenant(d, id)
			if err != nil {
				return err
			}
			all = append(all, victim{known, unseen})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// clientFrom returns a client whose connections come from this address.
func clientFrom(t *testing.T, address string) *http.Client {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	client := &http.Client{
		Timeout:   30 * time.Second,
		Transport: &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: guessersAtOnce},
	}
	t.Cleanup(client.CloseIdleConnections)
	return client
}

// anyKey is one that a guesser may try.
func anyKey(org uuid.UUID) string {
	switch rand.IntN(4) {
	case 0:
		return "the same again"
	case 1:
		return fmt.Sprint("password", rand.Uint64())
	}
	return auth.NewKey(org)
}
