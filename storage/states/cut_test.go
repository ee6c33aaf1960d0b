package states

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/mysql/mysqltest"
)

// proxied returns a store whose connections go through a proxy.
func proxied(t *testing.T, on kind) (*Store, *mysqltest.Proxy) {
	t.Helper()
	d, proxy := on.proxied(t)
	return open(t, d.options()), proxy
}

func newRef(name state.Name) state.Ref { return state.Ref{Org: uuid.New(), Name: name} }

// write decides on the next version with this body, and an event that names it.
func write(body []byte) state.Decide {
	return func(h state.Head) (state.Change, error) {
		v := state.Version{Number: h.Version.Number + 1, Serial: 1, Size: int64(len(body)), Digest: sha256.Sum256(body),
			CreatedAt: time.Now()}
		return state.Change{Version: &v, At: time.Now(),
			Events: []audit.Event{{Action: audit.StateWrite, Version: v.Number}}}, nil
	}
}

func put(t testing.TB, s *Store, ref state.Ref, body []byte) state.Head {
	t.Helper()
	head, err := s.Update(t.Context(), ref, body, write(body))
	if err != nil {
		t.Fatalf("Update: %v", err)
	}
	return head
}

// wantVersions holds a state to having these versions, each with one event, and no others, and its
// organization to what they count.
func wantVersions(t testing.TB, s *Store, ref state.Ref, bodies ...[]byte) {
	t.Helper()
	versions, err := s.Versions(t.Context(), ref, 0, 10_000)
	if err != nil || len(versions) != len(bodies) {
		t.Fatalf("%d versions, %v; want %d", len(versions), err, len(bodies))
	}
	for i, body := range bodies {
		got, err := s.Version(t.Context(), ref, uint64(i+1))
		if err != nil || !bytes.Equal(got.Body, body) {
			t.Fatalf("version %d has %d bytes, %v; want %d", i+1, len(got.Body), err, len(body))
		}
	}
	page, err := s.Events(t.Context(), ref.Org,
		audit.Query{State: string(ref.Name), Action: audit.StateWrite, Limit: 10_000})
	if err != nil || len(page.Events) != len(bodies) {
		t.Fatalf("%d events, %v; want %d", len(page.Events), err, len(bodies))
	}
	for i, e := range page.Events {
		if e.Version != uint64(len(bodies)-i) {
			t.Errorf("event %d is of version %d", i, e.Version)
		}
	}
	wantCounted(t, s, ref.Org)
}

// wantCounted compares what is counted of an organization with what is there.
func wantCounted(t testing.TB, s *Store, org uuid.UUID) {
	t.Helper()
	var there int64
	err := s.readers.QueryRowContext(t.Context(), `SELECT (SELECT COUNT(*) * 512 FROM state_heads WHERE org = ?)
		+ (SELECT COUNT(*) * 512 + coalesce(SUM(v.stored_bytes), 0) FROM state_heads s JOIN state_versions v ON v.state = s.id WHERE s.org = ?)`,
		org.String(), org.String()).Scan(&there)
	used, usage := s.Usage(t.Context(), org)
	if err != nil || usage != nil || used != there {
		t.Errorf("%d bytes are counted, %d are there: %v, %v", used, there, usage, err)
	}
}

// TestCutAnswer loses the answer to every packet of a change in turn. The outcome of a COMMIT is then
// unknown, and the store finds it out by itself: the change is there once.
func TestCutAnswer(t *testing.T) { onEach(t, testCutAnswer) }

func testCutAnswer(t *testing.T, on kind) {
	large := []byte(strings.Repeat("0123456789", 300_000)) // that doesn't fit into one packet
	_, _ = rand.NewChaCha8([32]byte{}).Read(large)
	for _, text := range []string{"FOR UPDATE", "INTO state_heads", "INTO state_bodies", ";COMMIT"} {
		t.Run(text, func(t *testing.T) {
			s, proxy := proxied(t, on)
			ref := newRef("cut")
			proxy.CutAnswer(text)
			head := put(t, s, ref, large)
			if proxy.Pending() {
				t.Fatal("nothing was cut")
			}
			if head.Version.Number != 1 {
				t.Errorf("the head is %+v", head)
			}
			wantVersions(t, s, ref, large)
		})
	}
}

// TestCutRemoval loses the answer to the COMMIT of everything else that changes something.
func TestCutRemoval(t *testing.T) { onEach(t, testCutRemoval) }

func testCutRemoval(t *testing.T, on kind) {
	at := time.Now()
	event := audit.Event{At: at, Action: audit.VersionPurge}
	for name, do := range map[string]func(s *Store, ref state.Ref) error{
		"record": func(s *Store, ref state.Ref) error {
			return s.Record(context.Background(), audit.Event{At: at, Org: ref.Org, Action: audit.VersionPurge})
		},
		"purge": func(s *Store, ref state.Ref) error { return s.Purge(context.Background(), ref, 1, event) },
		"prune": func(s *Store, ref state.Ref) error {
			n, err := s.Prune(context.Background(), ref, state.Pruning{Below: 2, Limit: 9}, event)
			if n != 1 {
				return fmt.Errorf("%d versions, %w", n, err)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, proxy := proxied(t, on)
			ref := newRef("cut")
			put(t, s, ref, []byte("{}"))
			put(t, s, ref, []byte("[]"))
			proxy.CutAnswer(";COMMIT")
			if err := do(s, ref); err != nil || proxy.Pending() {
				t.Fatal(err, proxy.Pending())
			}
			page, err := s.Events(t.Context(), ref.Org, audit.Query{Action: audit.VersionPurge, Limit: 9})
			if err != nil || len(page.Events) != 1 {
				t.Errorf("%d events, %v; want one", len(page.Events), err)
			}
			wantCounted(t, s, ref.Org)
		})
	}
}

// TestCutAnywhere cuts connections at random while several write: what was acknowledged is there
// once, in its order, and so is at most one of what was not.
func TestCutAnywhere(t *testing.T) { onEach(t, testCutAnywhere) }

func testCutAnywhere(t *testing.T, on kind) {
	s, proxy := proxied(t, on)
	var wg sync.WaitGroup
	stop, cutting := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(cutting)
		for random := rand.New(rand.NewPCG(1, 2)); ; {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				if !proxy.Pending() {
					proxy.CutAfter(random.Int64N(20_000))
				}
			}
		}
	}()
	refs, bodies := make([]state.Ref, 6), make([][][]byte, 6)
	for i := range refs {
		refs[i] = newRef("cut")
		wg.Go(func() {
			for n := range 30 {
				body := fmt.Appendf(nil, "%d of %d %s", n, i, strings.Repeat("x", n*200))
				head, err := s.Update(context.Background(), refs[i], body, write(body))
				if fault.Is(err, fault.StoreUnavailable) {
					continue // its outcome may be unknown; the next one shows
				}
				if err != nil {
					t.Error(err)
					return
				}
				for uint64(len(bodies[i])) < head.Version.Number {
					bodies[i] = append(bodies[i], nil)
				}
				bodies[i][head.Version.Number-1] = body
			}
		})
	}
	wg.Wait()
	close(stop)
	<-cutting
	proxy.Mend()
	for i, ref := range refs {
		if len(bodies[i]) < 25 {
			t.Errorf("only %d of 30 writes of %d went through", len(bodies[i]), i)
		}
		for n, body := range bodies[i] {
			got, err := s.Version(t.Context(), ref, uint64(n+1))
			if err != nil || body != nil && !bytes.Equal(got.Body, body) {
				t.Errorf("version %d of %d: %q, %v; want %q", n+1, i, got.Body, err, body)
			}
			bodies[i][n] = got.Body
		}
		wantVersions(t, s, ref, bodies[i]...)
	}
}

// TestDatabaseAway has no way to the database: nothing says that there is no such state, and it goes
// on by itself afterwards.
func TestDatabaseAway(t *testing.T) { onEach(t, testDatabaseAway) }

func testDatabaseAway(t *testing.T, on kind) {
	s, proxy := proxied(t, on)
	ref := newRef("away")
	put(t, s, ref, []byte("{}"))
	proxy.Break()
	_, current := s.Current(t.Context(), ref)
	_, stranger := s.Current(t.Context(), newRef("stranger"))
	_, head := s.Head(t.Context(), ref)
	_, update := s.Update(t.Context(), ref, []byte("[]"), write([]byte("[]")))
	_, events := s.Events(t.Context(), ref.Org, audit.Query{Limit: 1})
	_, usage := s.Usage(t.Context(), ref.Org)
	_, newest := s.Newest(t.Context(), []state.Ref{ref})
	s.ready = newProbe()
	for what, err := range map[string]error{"Current": current, "Current of none": stranger, "Head": head,
		"Update": update, "Events": events, "Usage": usage, "Newest": newest, "Ready": s.Ready(t.Context())} {
		if f := fault.From(err); f.Code != fault.StoreUnavailable {
			t.Errorf("%s: %v, want store_unavailable", what, err)
		}
	}
	proxy.Mend()
	s.ready = newProbe()
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	put(t, s, ref, []byte("[]"))
	wantVersions(t, s, ref, []byte("{}"), []byte("[]"))
}
