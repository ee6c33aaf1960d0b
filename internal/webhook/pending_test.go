package webhook

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// post takes notices without a network. What an address does, its host says: ok takes a
// second, stuck never answers, 503 and 404 answer so, and gone is not there.
type post struct {
	mu     sync.Mutex
	taken  map[string]int // notices by path
	now    int
	most   int // at once
	failed map[string]bool
}

func (p *post) RoundTrip(r *http.Request) (*http.Response, error) {
	p.count(r.URL.Path, 1)
	defer p.count(r.URL.Path, -1)
	status := http.StatusNoContent
	var err error
	switch r.URL.Host {
	case "ok":
		time.Sleep(time.Second)
	case "stuck":
		<-r.Context().Done()
		err = r.Context().Err()
	case "gone":
		err = errors.New("no route to 10.0.0.7")
	case "404":
		status = http.StatusNotFound
	case "503":
		status = http.StatusServiceUnavailable
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil || status != http.StatusNoContent {
		p.failed[r.URL.Path] = true
	} else {
		p.taken[r.URL.Path]++
	}
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(""))}, nil
}

func (p *post) count(path string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now += n
	p.most = max(p.most, p.now)
}

func (p *post) got(org uuid.UUID) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken["/"+org.String()]
}

// hosts are the addresses of organizations: the same ones for many.
type hosts map[uuid.UUID]string

func (h hosts) NotifyURL(org uuid.UUID) string { return "https://" + h[org] + "/" + org.String() }

func numbered(n int) (org uuid.UUID) {
	binary.BigEndian.PutUint32(org[:], uint32(n+1))
	return org
}

// posted runs a follower over a post until stop is called.
func posted(t *testing.T, source *feed, addresses Addresses, grace time.Duration) (f *Notifier, p *post, stop func()) {
	t.Helper()
	f = New(source, addresses, slog.New(slog.DiscardHandler))
	p = &post{taken: map[string]int{}, failed: map[string]bool{}}
	f.sender.client.Transport = p
	if err := f.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	ticker := time.NewTicker(time.Second)
	go func() {
		defer close(ended)
		f.Follow(ctx, ticker.C, func() time.Duration { return grace })
	}()
	return f, p, func() { cancel(); <-ended; ticker.Stop() }
}

// goroutines counts those of the test's bubble: the runtime has some of its own outside, which
// come and go.
func goroutines() int {
	stacks := make([]byte, 1<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "synctest bubble")
}

// What was told leaves nothing behind, whomever it was for.
func TestNothingStaysOfWhatWasTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events, addresses := &feed{}, hosts{}
		f, p, stop := posted(t, events, addresses, time.Minute)
		defer stop()
		for n := range 1000 {
			addresses[numbered(n)] = []string{"ok", "404"}[n%2]
		}
		synctest.Wait()
		before := goroutines()
		for n := range 1000 {
			events.add(numbered(n), audit.LockForce, "ada")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(p.taken) != 500 || p.most > posting {
			t.Errorf("%d of 500 were told, up to %d at once", len(p.taken), p.most)
		}
		if now, b := goroutines(), f.backlog; before == 0 || now > before || len(b.waitingFor)+len(b.order)+b.total+b.posting+b.retrying > 0 {
			t.Errorf("%d goroutines after %d; left: %+v", now, before, b)
		}
		if notes := events.dropped(numbered(1)); !slices.Equal(notes, []string{"lock.force 2: the answer was 404"}) {
			t.Errorf("the audit log says %q", notes)
		}
	})
}

// However many addresses are dead, others are told at once; and an address that was dead is
// told of what still waits when it is back.
func TestDeadAddressesHoldNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events, addresses := &feed{}, hosts{}
		_, p, stop := posted(t, events, addresses, 0)
		defer stop()
		for n := range posting {
			addresses[numbered(1000+n)] = "ok"
		}
		for n := range 100 {
			addresses[numbered(n)] = "stuck"
		}
		for n := range 100 {
			events.add(numbered(n), audit.LockForce, "nobody listens")
			events.add(numbered(n), audit.LockForce, "nobody listens")
		}
		time.Sleep(time.Minute) // all have failed once
		for n := range posting {
			healthy := numbered(1000 + n)
			events.add(healthy, audit.LockForce, "ada")
			time.Sleep(time.Second) // until it is looked for
			time.Sleep(time.Second)
			synctest.Wait()
			if p.got(healthy) != 1 {
				t.Errorf("number %d was not told in two seconds", n)
			}
		}
		if p.most > posting {
			t.Errorf("%d were told at once", p.most)
		}
	})
}

// What waits at a stop is tried once more, and what is lost then is in the audit log.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events, fine, gone, stuck := &feed{}, numbered(0), numbered(1), numbered(2)
		const grace = 7 * time.Second
		_, p, stop := posted(t, events, hosts{fine: "ok", gone: "gone", stuck: "stuck"}, grace)
		for range 3 {
			for _, org := range []uuid.UUID{fine, gone, stuck} {
				events.add(org, audit.LockForce, "ada")
			}
		}
		synctest.Wait() // nobody has looked for them yet
		began := time.Now()
		stop()
		if took := time.Since(began); took != grace {
			t.Errorf("the stop took %v, want %v", took, grace)
		}
		if p.got(fine) != 3 || len(events.dropped(fine)) > 0 {
			t.Errorf("%d of 3 were delivered; the audit log says %q", p.got(fine), events.dropped(fine))
		}
		for org, want := range map[uuid.UUID][]string{
			gone:  {"lock.force 2: no answer", "lock.force 5: the server stopped", "lock.force 8: the server stopped"},
			stuck: {"lock.force 3: the server stopped", "lock.force 6: the server stopped", "lock.force 9: the server stopped"},
		} {
			got := events.dropped(org)
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("the audit log says %q, want %q", got, want)
			}
		}
	})
}

// What there was no room for is counted in the audit log.
func TestTooMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events, org := &feed{}, numbered(0)
		_, p, stop := posted(t, events, hosts{org: "ok"}, 0)
		defer stop()
		for range 3 * waiting {
			events.add(org, audit.LockForce, "ada")
		}
		time.Sleep(10 * time.Minute)
		if notes := events.dropped(org); p.got(org) != waiting || len(notes) != 1 || notes[0] != "200 notices from 101 to 300: too many wait" {
			t.Errorf("%d were delivered; the audit log says %q", p.got(org), notes)
		}
	})
}

// The bound of all that waits leaves a few to each organization.
func TestBacklogBounds(t *testing.T) {
	b := newBacklog()
	for n := range 2 * waitingInAll / waiting {
		for range 2 * waiting {
			b.add(audit.Event{Org: numbered(n)})
		}
	}
	if most := waitingInAll + waitingThen*len(b.waitingFor); b.total > most || b.total < waitingInAll {
		t.Errorf("%d wait, want at most %d", b.total, most)
	}
	if l := b.waitingFor[numbered(2*waitingInAll/waiting-1)]; len(l.events) != waitingThen || l.lost.count != 2*waiting-waitingThen {
		t.Errorf("the last one has %d, and lost %d", len(l.events), l.lost.count)
	}
}
