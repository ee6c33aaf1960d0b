//go:build e2e

package test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/internal/suite"
)

const (
	noisyRate   = 500 // requests a second: 50 times the limit of 600 a minute
	noisyAtOnce = 40  // connections that never wait
	quietPause  = 40 * time.Millisecond
)

// noisyTime is long enough for the limit's burst to be used up several times over.
func noisyTime() time.Duration { return brief(5*time.Second, 10*time.Second) }

// TestNoisyNeighbour has one organization send 50 times what it may, over many connections,
// half of it with large bodies and half with wrong lock IDs, while another one works within
// its limit: lock, read, write, unlock. Every request of the quiet one succeeds, whether the noisy
// one's are refused at once or wait.
func TestNoisyNeighbour(t *testing.T) {
	suite.Deep(t)
	t.Run("refused", func(t *testing.T) { noisyNeighbour(t, noisyAtOnce, "HOLDFAST_RATE_WAIT=0s") })
	// As many wait as come back within five seconds, and more than that are sent at once.
	t.Run("held", func(t *testing.T) { noisyNeighbour(t, noisyAtOnce+5*600/60, "HOLDFAST_RATE_WAIT=5s") })
}

func noisyNeighbour(t *testing.T, atOnce int, setting string) {
	dir := t.TempDir()
	tenants := addTenants(t, dir+"/auth.cfg", 2)
	s := newServer(dir, tenantsEnviron(dir, "HOLDFAST_STATE_RATE_LIMIT=600", setting))
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.end(); err != nil {
			t.Errorf("%v\n%s", err, s.logTail(20))
		}
	})
	for i, o := range tenants {
		o.base, o.http = s.url, clientFrom(t, fmt.Sprint("127.4.0.", i+1))
	}
	howLong := noisyTime()
	ctx, stop := context.WithTimeout(t.Context(), howLong)
	defer stop()
	start := time.Now()
	var noise answers
	var all sync.WaitGroup
	for i := range atOnce {
		all.Go(func() { noise.shout(ctx, tenants[0], i) })
	}
	var quiet answers
	quiet.work(ctx, tenants[1])
	all.Wait()
	took := time.Since(start)

	t.Logf("noisy: %d requests in %v, %s", len(noise.times), took.Round(time.Millisecond), &noise)
	t.Logf("quiet: %d requests, %s; latencies: median %v, 99th percentile %v, longest %v",
		len(quiet.times), &quiet, quiet.at(0.5), quiet.at(0.99), quiet.at(1))
	if len(noise.times) < noisyRate*int(howLong/time.Second)/2 || noise.status[http.StatusTooManyRequests] == 0 {
		t.Errorf("the noisy organization was not noisy")
	}
	// A burst, and what comes back while it is used up.
	if passed := len(noise.times) - noise.status[http.StatusTooManyRequests]; passed > 600+int(10*took.Seconds())+1 {
		t.Errorf("%d of its requests passed, with a limit of 600 a minute", passed)
	}
	if quiet.status[http.StatusOK] != len(quiet.times) || len(quiet.times) == 0 {
		t.Errorf("the quiet organization's requests don't all succeed")
	}
}

// answers are those to one organization.
type answers struct {
	mu     sync.Mutex
	status map[int]int // how many there were; 0 is for none
	times  []time.Duration
}

func (a *answers) add(status int, took time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.status == nil {
		a.status = map[int]int{}
	}
	a.status[status]++
	a.times = append(a.times, took)
}

func (a *answers) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.times)
}

func (a *answers) ask(o *tenant, method, path, body string) {
	start := time.Now()
	status := 0
	if answer, err := o.send(method, path, []byte(body)); err == nil {
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		status = answer.StatusCode
	}
	a.add(status, time.Since(start))
}

// shout sends a connection's part of the noise.
func (a *answers) shout(ctx context.Context, o *tenant, connection int) {
	large := stateOfSize(100_000)
	every := time.NewTicker(noisyAtOnce * time.Second / noisyRate)
	defer every.Stop()
	for i := 0; ctx.Err() == nil; i++ {
		path := fmt.Sprintf("/api/v1/state/noise-%d", connection)
		if i%2 == 0 {
			a.ask(o, "POST", path, large)
		} else {
			a.ask(o, "POST", path+"?ID=guessed", large)
		}
		<-every.C
	}
}

// work does what a client does in a run, again and again.
func (a *answers) work(ctx context.Context, o *tenant) {
	const path = "/api/v1/state/quiet"
	for run := 0; ctx.Err() == nil; run++ {
		info := fmt.Sprintf(`{"ID":"run-%d","Who":"ada@engine"}`, run)
		a.ask(o, "LOCK", path, info)
		a.ask(o, "POST", fmt.Sprintf("%s?ID=run-%d", path, run), stateOfSize(10_000+run))
		a.ask(o, "GET", path, "")
		a.ask(o, "UNLOCK", path, info)
		time.Sleep(4 * quietPause)
	}
}

func (a *answers) at(part float64) time.Duration {
	slices.Sort(a.times)
	return a.times[int(part*float64(len(a.times)-1))].Round(10 * time.Microsecond)
}

// String counts answers by status.
func (a *answers) String() string { return fmt.Sprint("by status ", a.status) }

func stateOfSize(size int) string {
	return `{"serial":1,"lineage":"5ad8","filler":"` + strings.Repeat("x", size) + `"}`
}
