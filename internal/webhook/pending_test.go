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
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// post takes notices without a network. What an address does, its host says: ok takes a
// second, stuck never answers, 503 and 410 answer so, and gone is not there.
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
	case "410":
		status = http.StatusGone
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

func (h hosts) Receiver(org uuid.UUID) (Receiver, bool) {
	return Receiver{URL: "https://" + h[org] + "/" + org.String()}, h[org] != ""
}

func numbered(n int) (org uuid.UUID) {
	binary.BigEndian.PutUint32(org[:], uint32(n+1))
	return org
}

// posted runs a follower over a post until stop is called.
func posted(t *testing.T, source *feed, receivers Receivers, grace time.Duration) (f *Notifier, p *post, stop func()) {
	return postedFrom(t, source, NewMemoryOutbox(), receivers, grace)
}

func postedFrom(t *testing.T, source *feed, box Outbox, receivers Receivers,
	grace time.Duration) (f *Notifier, p *post, stop func()) {
	t.Helper()
	f = New(Config{Source: source, Outbox: box, Receivers: receivers, Networks: loopback(),
		Log: slog.New(slog.DiscardHandler)})
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
			addresses[numbered(n)] = []string{"ok", "410"}[n%2]
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
		if now, b := goroutines(), f.backlog; before == 0 || now > before ||
			len(b.waitingFor)+len(b.order)+b.total+b.posting+b.retrying+int(b.bytes) > 0 {
			t.Errorf("%d goroutines after %d; left: %+v", now, before, b)
		}
		if notes := events.dropped(numbered(1)); !slices.Equal(notes, []string{"lock.force 2: the answer was 410"}) {
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

// What waits at a stop is tried once more; what is not delivered stays in the outbox, and the next
// start delivers it.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events, box, fine, gone, stuck := &feed{}, NewMemoryOutbox(), numbered(0), numbered(1), numbered(2)
		const grace = 7 * time.Second
		_, p, stop := postedFrom(t, events, box, hosts{fine: "ok", gone: "gone", stuck: "stuck"}, grace)
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
		if p.got(fine) != 3 || len(events.dropped(fine))+len(events.dropped(gone))+len(events.dropped(stuck)) > 0 {
			t.Errorf("%d of 3 were delivered; dropped: %q", p.got(fine), events.dropped(gone))
		}
		if _, _, left, _ := box.Load(t.Context()); len(left) != 6 {
			t.Errorf("%d notices are in the outbox, want those to two receivers", len(left))
		}
		events.add(gone, audit.LockForce, "while it is down")
		f, p, stop := postedFrom(t, events, box, hosts{fine: "ok", gone: "ok", stuck: "ok"}, grace)
		time.Sleep(time.Minute)
		if p.got(fine) != 0 || p.got(gone) != 4 || p.got(stuck) != 3 {
			t.Errorf("after the next start, delivered: %v", p.taken)
		}
		stop()
		if s := f.Stats(); s.Delivered != 7 || s.Waiting != 0 || s.Dropped != 0 {
			t.Errorf("%+v", s)
		}
		if _, _, left, _ := box.Load(t.Context()); len(left) != 0 {
			t.Errorf("%+v are left", left)
		}
	})
}

// moving is a receiver of everybody's whose host changes.
type moving struct{ host atomic.Value }

func (m *moving) Receiver(org uuid.UUID) (Receiver, bool) {
	return Receiver{URL: "https://" + m.host.Load().(string) + "/" + org.String()}, true
}

// A receiver that is away for two days is told of all when it is back, one that is away for
// longer than that of what is new enough; each time the pauses grow, to a bound.
func TestReceiverIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events, org := &feed{}, numbered(0)
		receivers := &moving{}
		receivers.host.Store("503")
		f, p, stop := posted(t, events, receivers, 0)
		defer stop()
		for range 10 {
			events.add(org, audit.LockForce, "ada")
		}
		time.Sleep(48 * time.Hour)
		if failed := f.Stats().Failed; failed < 100 || failed > 1000 {
			t.Errorf("%d tries in two days", failed)
		}
		receivers.host.Store("ok")
		time.Sleep(2 * lastPause)
		if p.got(org) != 10 || len(events.dropped(org)) > 0 {
			t.Errorf("%d of 10 were delivered; dropped: %q", p.got(org), events.dropped(org))
		}
		receivers.host.Store("503")
		events.add(org, audit.LockForce, "too old when it is back")
		time.Sleep(keepFor + 2*lastPause)
		notes := events.dropped(org)
		if len(notes) != 1 || notes[0] != "lock.force 11: the answer was 503" || f.Stats().Dropped != 1 {
			t.Errorf("dropped: %q, %+v", notes, f.Stats())
		}
	})
}

// picky takes no notice of one state.
type picky struct{ *post }

func (p picky) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	if strings.Contains(string(body), "poison") {
		r.URL.Host = "503"
	}
	return p.post.RoundTrip(r)
}

// A notice that its receiver stumbles over keeps those behind it for a few tries, not for days.
func TestPoison(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events, org := &feed{}, numbered(0)
		f, p, stop := posted(t, events, hosts{org: "ok"}, 0)
		defer stop()
		f.sender.client.Transport = picky{p}
		events.add(org, audit.LockForce, "poison")
		for range 3 {
			events.add(org, audit.LockForce, "ada")
		}
		time.Sleep(30 * time.Minute)
		if p.got(org) != 3 || f.Stats().Waiting != 1 {
			t.Errorf("%d of 3 were delivered; %+v", p.got(org), f.Stats())
		}
	})
}

// broken is an outbox that can't be written to for a while.
type broken struct {
	Outbox
	broken atomic.Bool
}

func (b *broken) Keep(ctx context.Context, position uint64, notices []audit.Event) error {
	if b.broken.Load() {
		return errors.New("no space left on the disk")
	}
	return b.Outbox.Keep(ctx, position, notices)
}

// What can't be kept is not taken up, and is told when it can.
func TestOutboxThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events, org, box := &feed{}, numbered(0), &broken{Outbox: NewMemoryOutbox()}
		_, p, stop := postedFrom(t, events, box, hosts{org: "ok"}, 0)
		defer stop()
		box.broken.Store(true)
		events.add(org, audit.LockForce, "ada")
		time.Sleep(time.Minute)
		if p.got(org) != 0 {
			t.Error("a notice was told that a crash would forget")
		}
		box.broken.Store(false)
		time.Sleep(10 * time.Second)
		if p.got(org) != 1 {
			t.Errorf("told %d times", p.got(org))
		}
	})
}

// A log that was restored from a backup has its next events told, though it is shorter than the
// outbox knows it.
func TestRestoredLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events, org, box := &feed{}, numbered(0), NewMemoryOutbox()
		if err := box.Keep(t.Context(), 1000, nil); err != nil {
			t.Fatal(err)
		}
		events.add(org, audit.LockForce, "from the backup")
		_, p, stop := postedFrom(t, events, box, hosts{org: "ok"}, 0)
		defer stop()
		events.add(org, audit.LockForce, "new")
		time.Sleep(10 * time.Second)
		if p.got(org) != 1 {
			t.Errorf("told %d times", p.got(org))
		}
	})
}

// What there was no room for is counted in the audit log.
func TestTooMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events, org := &feed{}, numbered(0)
		f, p, stop := posted(t, events, hosts{org: "ok"}, 0)
		defer stop()
		for range waiting + 200 {
			events.add(org, audit.LockForce, "ada")
		}
		time.Sleep(time.Hour)
		notes, told := events.dropped(org), int64(p.got(org))
		if told < waiting || told+f.Stats().Dropped != waiting+200 || len(notes) == 0 ||
			!strings.Contains(notes[0], ": too many wait") {
			t.Errorf("%d were delivered; %+v; the audit log says %q", told, f.Stats(), notes)
		}
	})
}

// The bounds of all that waits leave a few to each organization.
func TestBacklogBounds(t *testing.T) {
	fill := func(b *backlog, orgs, each int, note string) {
		for n := range orgs {
			room, e := b.room(), audit.Event{Org: numbered(n), Note: note}
			kept := 0
			for range each {
				if room.take(e) {
					kept++
				} else {
					b.lose(e)
				}
			}
			for range kept {
				b.add(e)
			}
		}
	}
	b := newBacklog()
	fill(b, 2*waitingInAll/waiting, 2*waiting, "")
	if most := waitingInAll + waitingThen*len(b.waitingFor); b.total > most || b.total < waitingInAll {
		t.Errorf("%d wait, want at most %d", b.total, most)
	}
	if l := b.waitingFor[numbered(2*waitingInAll/waiting-1)]; len(l.events) != waitingThen ||
		l.lost.count != 2*waiting-waitingThen {
		t.Errorf("the last one has %d, and lost %d", len(l.events), l.lost.count)
	}
	large := strings.Repeat("x", 64<<10)
	b = newBacklog()
	fill(b, 20, 100, large)
	if b.bytes > bytesInAll+(waitingThen*20+1)*(64<<10+4096) || b.bytes < bytesInAll {
		t.Errorf("%d bytes wait", b.bytes)
	}
}

// Of an organization that nobody is told of any more, since it was removed, nothing is recorded: its
// data may have been destroyed while a notice was on its way.
func TestNothingIsRecordedOfWhoIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events, org := &feed{}, numbered(0)
		to := &leaving{left: -1}
		_, p, stop := posted(t, events, to, 0)
		defer stop()
		events.add(org, audit.LockForce, "ada")
		time.Sleep(2 * time.Second)
		if n := len(events.dropped(org)); n != 1 {
			t.Fatalf("%d drops were recorded of who is there", n)
		}
		to.leaveAfter(2) // once when it is read, and once to be posted to
		events.add(org, audit.LockForce, "ada")
		time.Sleep(2 * time.Second)
		p.mu.Lock()
		defer p.mu.Unlock()
		if n := len(events.dropped(org)); n != 1 || to.left != 0 {
			t.Errorf("%d drops were recorded, with %d looks for a receiver to come", n, to.left)
		}
	})
}

// leaving is a receiver that is found so often; below 0, always.
type leaving struct {
	mu   sync.Mutex
	left int
}

func (l *leaving) leaveAfter(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = n
}

func (l *leaving) Receiver(org uuid.UUID) (Receiver, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	some := l.left != 0
	if l.left > 0 {
		l.left--
	}
	return Receiver{URL: "https://410/" + org.String()}, some
}
