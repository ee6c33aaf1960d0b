package webhook

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/internal/logctx/logtest"
)

var acme, globex = uuid.New(), uuid.New()

// feed is an audit log in memory.
type feed struct {
	mu     sync.Mutex
	events []audit.Event
}

func (f *feed) add(org uuid.UUID, action audit.Action, note string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events,
		audit.Event{Sequence: uint64(len(f.events) + 1), Org: org, At: time.Now().UTC(), Action: action, State: "x",
			Note: note})
}

func (f *feed) Feed(_ context.Context, after uint64, limit int) ([]audit.Event, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	after = min(after, uint64(len(f.events)))
	behind := f.events[after:]
	return slices.Clone(behind[:min(limit, len(behind))]), nil
}

func (f *feed) Record(_ context.Context, e audit.Event) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	e.Sequence = uint64(len(f.events) + 1)
	f.events = append(f.events, e)
	return nil
}

// dropped returns what the audit log says of notices that were not delivered.
func (f *feed) dropped(org uuid.UUID) (notes []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.events {
		if e.Action == audit.NoticeDrop && e.Org == org {
			notes = append(notes, e.Note)
		}
	}
	return notes
}

type book map[uuid.UUID]string

func (b book) Receiver(org uuid.UUID) (Receiver, bool) { return Receiver{URL: b[org]}, b[org] != "" }

// hook is an address that answers with what it is told to, and gives what it got.
type hook struct {
	*httptest.Server
	got chan notice
}

func newHook(t *testing.T, answer func(try int) int) hook {
	t.Helper()
	h := hook{got: make(chan notice, 1000)}
	var tried atomic.Int32
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var n notice
		if err := json.Unmarshal(body, &n); err != nil || r.Header.Get("Content-Type") != "application/json" ||
			r.Method != "POST" {
			t.Errorf("%s with %v: %s", r.Method, r.Header, body)
		}
		try := int(tried.Add(1))
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(answer(try))
		h.got <- n
	}))
	t.Cleanup(h.Close)
	return h
}

// follow runs a follower whose tries follow one another at once. step looks for events, and
// returns when it has; stop ends all.
func follow(t *testing.T, source Source, receivers Receivers) (log *logtest.Journal, step, stop func()) {
	return followFor(t, source, receivers, 10*time.Second)
}

func followFor(t *testing.T, source Source, receivers Receivers,
	grace time.Duration) (log *logtest.Journal, step, stop func()) {
	t.Helper()
	log = &logtest.Journal{}
	f := New(Config{Source: source, Outbox: NewMemoryOutbox(), Receivers: receivers,
		Networks: loopback(), Log: slog.New(slog.NewTextHandler(log, nil))})
	f.sender.pauses = func() backoff.BackOff { return &backoff.ZeroBackOff{} }
	ctx, cancel := context.WithCancel(t.Context())
	ticks, ended := make(chan time.Time), make(chan struct{})
	go func() { defer close(ended); f.Follow(ctx, ticks, func() time.Duration { return grace }) }()
	step = func() { ticks <- time.Time{}; ticks <- time.Time{} } // the second is taken when the first is done
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	step() // where the log ends is known from now on
	return log, step, stop
}

// loopback is where the tests' receivers are.
func loopback() []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }

func always(status int) func(int) int { return func(int) int { return status } }

// Only what is new and notable is told, to the organization that it is about.
func TestNotices(t *testing.T) {
	mine, theirs := newHook(t, always(204)), newHook(t, always(200))
	events := &feed{}
	events.add(acme, audit.CandidateHold, "old")
	_, step, _ := follow(t, events, book{acme: mine.URL, globex: theirs.URL})
	events.add(acme, audit.StateWrite, "")
	events.add(acme, audit.StateWrite, "shrunk")
	events.add(acme, audit.LockTake, "ada")
	events.add(globex, audit.LockTakeOver, "bob")
	events.add(uuid.New(), audit.LockForce, "nobody listens")
	events.add(acme, audit.StateRollback, "emptied")
	events.add(acme, audit.LockForce, "ada")
	events.add(acme, audit.CandidateHold, "0123: emptied")
	events.add(acme, audit.CandidateFence, "4567")
	step()
	for _, want := range []struct {
		from   hook
		org    uuid.UUID
		action audit.Action
		note   string
	}{
		{mine, acme, audit.StateWrite, "shrunk"}, {mine, acme, audit.LockForce, "ada"},
		{mine, acme, audit.CandidateHold, "0123: emptied"},
		{mine, acme, audit.CandidateFence, "4567"}, {theirs, globex, audit.LockTakeOver, "bob"},
	} {
		if n := <-want.from.got; n.Org != want.org.String() || n.Action != want.action || n.Note != want.note ||
			n.State != "x" || n.Sequence == 0 {
			t.Errorf("told %+v; want %+v", n, want)
		}
	}
	if len(mine.got)+len(theirs.got) > 0 {
		t.Error("more was told")
	}
}

// What may pass is tried again, what won't is not; no answer leads elsewhere; and no log
// shows the address.
func TestTries(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(try int) int
		tries  int
		failed bool
	}{
		"taken":         {always(200), 1, false},
		"busy at first": {func(try int) int { return map[bool]int{true: 503, false: 200}[try < 3] }, 3, false},
		"limited":       {func(try int) int { return map[bool]int{true: 429, false: 200}[try < 2] }, 2, false},
		"not there yet": {func(try int) int { return map[bool]int{true: 404, false: 200}[try < 4] }, 4, false},
		"gone":          {always(410), 1, true},
		"not taken":     {always(400), 1, true},
		"redirect":      {always(307), 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			h, events := newHook(t, c.answer), &feed{}
			log, step, stop := follow(t, events, book{acme: h.URL + "/s3same"})
			events.add(acme, audit.LockForce, "ada")
			events.add(acme, audit.LockForce, "bob") // the first is done when this comes
			step()
			got := 0
			for n := range h.got {
				if n.Note == "bob" {
					break
				}
				got++
			}
			stop()
			if got != c.tries || strings.Contains(log.String(), "could not be delivered") != c.failed {
				t.Errorf("%d tries; want %d; the log: %s", got, c.tries, log)
			}
			if strings.Contains(log.String(), "s3same") {
				t.Errorf("the log shows the address: %s", log)
			}
		})
	}
}

// An address that is gone holds nobody up, and what it costs is bounded.
func TestDeadAddress(t *testing.T) {
	h, events := newHook(t, always(200)), &feed{}
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	release := make(chan struct{})
	stuck := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer stuck.Close()
	defer close(release)
	third := uuid.New()
	log, step, stop := followFor(t, events, book{acme: h.URL, globex: dead.URL + "/s3same", third: stuck.URL + "/s3same"},
		10*time.Millisecond)
	for range waiting + 5 {
		events.add(globex, audit.LockForce, "lost")
		events.add(third, audit.LockForce, "stuck")
	}
	events.add(acme, audit.LockForce, "ada")
	step()
	if n := <-h.got; n.Note != "ada" {
		t.Errorf("told %+v", n)
	}
	stop()
	if !strings.Contains(log.String(), "too many wait") || strings.Contains(log.String(), "s3same") {
		t.Errorf("the log: %s", log)
	}
}

func TestEnd(t *testing.T) {
	events := &feed{}
	for want := range uint64(70) {
		got, err := endOf(t.Context(), events)
		if err != nil || got != want {
			t.Errorf("%d, %v; want %d", got, err, want)
		}
		events.add(acme, audit.LockTake, "")
	}
}
