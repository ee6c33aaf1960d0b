package live_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/live"
	"github.com/holdfast/holdfast/runs"
)

// world is an audit log and runs, kept in the plainest way.
type world struct {
	mu      sync.Mutex
	events  []audit.Event
	changes map[uuid.UUID]int64
	runs    map[uuid.UUID][]runs.ChangedRun // by number
	looked  int                             // rows that were read
}

func newWorld() *world {
	return &world{changes: map[uuid.UUID]int64{}, runs: map[uuid.UUID][]runs.ChangedRun{}}
}

func (w *world) Events(_ context.Context, org uuid.UUID, q audit.Query) (page audit.Page, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range slices.Backward(w.events) {
		if e.Org != org || q.Before > 0 && e.Sequence >= q.Before {
			continue
		}
		w.looked++
		if page.Events = append(page.Events, e); len(page.Events) == q.Limit {
			page.Next = e.Sequence
			break
		}
	}
	return page, nil
}

func (w *world) Changes(_ context.Context, org uuid.UUID, after int64, limit int) (found []runs.ChangedRun, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.runs[org] {
		if c.Number > after && len(found) < limit {
			found = append(found, c)
			w.looked++
		}
	}
	return found, nil
}

func (w *world) LastChange(_ context.Context, org uuid.UUID) (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changes[org], nil
}

func (w *world) write(org uuid.UUID, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events,
		audit.Event{Sequence: uint64(len(w.events) + 1), Org: org, Action: audit.StateWrite, State: name, Version: 1})
}

func (w *world) move(org uuid.UUID, id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changes[org]++
	w.runs[org] = slices.DeleteFunc(w.runs[org], func(c runs.ChangedRun) bool { return c.Run.ID == id })
	w.runs[org] = append(w.runs[org],
		runs.ChangedRun{Number: w.changes[org], Run: runs.Run{ID: id, Workspace: "w", Status: runs.Planning}})
}

func owner(org uuid.UUID) auth.Principal {
	return auth.Principal{Org: org, KeyID: "k", Grant: auth.Grant{Role: auth.Owner}}
}

func follow(t *testing.T, hub *live.Hub, p auth.Principal, last string) *live.Reader {
	t.Helper()
	r, err := hub.Follow(t.Context(), p, last)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// read takes until want says that it is enough.
func read(t *testing.T, r *live.Reader, enough func(live.Batch) bool) {
	t.Helper()
	for {
		batch, err := r.Take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if enough(batch) {
			return
		}
		if batch.More != nil {
			<-batch.More
		}
	}
}

// A reader who comes and goes, while many write for two organizations, is told everything of their
// own once, and in order; of a run, at least where it is in the end.
func TestResumeLosesAndDoublesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, us, them := newWorld(), uuid.New(), uuid.New()
		hub := live.NewHub(live.Deps{Log: w, Runs: w})
		r := follow(t, hub, owner(us), "")
		const writers, each = 4, 50
		for n := range writers {
			go func() {
				for i := range each {
					w.write(us, fmt.Sprintf("s%d/%d", n, i))
					w.write(them, "theirs")
					w.move(us, fmt.Sprint("run", n))
					w.move(them, "theirs")
					if i%3 == 0 {
						hub.Wake(us)
					}
				}
			}()
		}
		random := rand.New(rand.NewPCG(1, 2))
		var names []string
		var last live.Position
		newest := map[string]int64{}
		done := false
		for len(names) < writers*each || newest["done"] == 0 {
			read(t, r, func(b live.Batch) bool { take(t, b, &names, newest, &last); return true })
			if random.IntN(3) == 0 {
				r.Close()
				r = follow(t, hub, owner(us), last.String())
			}
			if len(names) == writers*each && !done {
				done = true
				w.move(us, "done")
				hub.Wake(us)
			}
			synctest.Wait()
		}
		r.Close()
		for _, c := range w.runs[us] {
			if newest[c.Run.ID] != c.Number {
				t.Errorf("of %s change %d is told last, and not %d", c.Run.ID, newest[c.Run.ID], c.Number)
			}
		}
		slices.Sort(names)
		if len(slices.Compact(names)) != writers*each {
			t.Error("a write was told twice")
		}
	})
}

func take(t *testing.T, b live.Batch, names *[]string, newest map[string]int64, last *live.Position) bool {
	t.Helper()
	if b.Reset {
		t.Fatal("told to read anew")
	}
	for _, e := range b.Events {
		if e.ID.Log < last.Log || e.ID.Runs < last.Runs || e.ID == *last {
			t.Errorf("%v comes behind %v", e.ID, *last)
		}
		*last = e.ID
		switch {
		case e.Name == "theirs" || e.Run.ID == "theirs":
			t.Error("another organization's was told")
		case e.Kind == live.OfRun:
			newest[e.Run.ID] = e.ID.Runs
		default:
			*names = append(*names, e.Name)
		}
	}
	return false
}

// A tab that was asleep for long reads anew, and goes on from there.
func TestTooFarBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, us := newWorld(), uuid.New()
		hub := live.NewHub(live.Deps{Log: w, Runs: w})
		w.write(us, "first")
		for range 2000 {
			w.write(us, "x")
		}
		r := follow(t, hub, owner(us), "1-0")
		defer r.Close()
		batch, err := r.Take(t.Context())
		if err != nil || !batch.Reset || batch.At.Log != 2001 {
			t.Fatalf("%+v, %v", batch, err)
		}
		if w.looked > 1500 {
			t.Errorf("%d rows were looked at", w.looked)
		}
		w.write(us, "next")
		hub.Wake(us)
		read(t, r, func(b live.Batch) bool { return len(b.Events) == 1 && b.Events[0].Name == "next" })
	})
}

// A position of a log that was restored since is none.
func TestPositionOfAnotherTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, us := newWorld(), uuid.New()
		w.write(us, "x")
		r := follow(t, live.NewHub(live.Deps{Log: w, Runs: w}), owner(us), "77-3")
		defer r.Close()
		if batch, err := r.Take(t.Context()); err != nil || !batch.Reset || batch.At.Log != 1 {
			t.Errorf("%+v, %v", batch, err)
		}
	})
}

// Who may not read a thing is not told of it; nobody follows who would never be told anything.
func TestRights(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, us := newWorld(), uuid.New()
		hub := live.NewHub(live.Deps{Log: w, Runs: w})
		some, err := auth.ParsePatterns("prod/*")
		if err != nil {
			t.Fatal(err)
		}
		r := follow(t, hub, auth.Principal{Org: us, KeyID: "a", Grant: auth.Grant{Role: auth.Auditor, States: some}}, "")
		defer r.Close()
		w.write(us, "dev/x")
		w.move(us, "run")
		w.write(us, "prod/x")
		hub.Wake(us)
		read(t, r, func(b live.Batch) bool {
			if len(b.Events) > 0 && (len(b.Events) > 1 || b.Events[0].Name != "prod/x") {
				t.Errorf("told of %+v", b.Events)
			}
			return b.At == live.Position{Log: 2, Runs: 1}
		})
		_, err = hub.Follow(t.Context(), auth.Principal{Org: us, Grant: auth.Grant{Role: auth.Uploader}}, "")
		if !fault.Is(err, fault.RightMissing) {
			t.Errorf("an uploader follows: %v", err)
		}
	})
}

// Who follows too often is refused, until another one of theirs leaves; others are not.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, us, them := newWorld(), uuid.New(), uuid.New()
		hub := live.NewHub(live.Deps{Log: w, All: 3, Own: 2, Each: 1})
		first := follow(t, hub, owner(us), "")
		if _, err := hub.Follow(t.Context(), owner(us), ""); !fault.Is(err, fault.TooManyWaiting) {
			t.Errorf("the same key follows twice: %v", err)
		}
		other := owner(us)
		other.KeyID = "other"
		second := follow(t, hub, other, "")
		other.KeyID = "third"
		if _, err := hub.Follow(t.Context(), other, ""); !fault.Is(err, fault.TooManyWaiting) {
			t.Errorf("three follow one organization: %v", err)
		}
		theirs := follow(t, hub, owner(them), "")
		first.Close()
		again := follow(t, hub, owner(us), "")
		for _, r := range []*live.Reader{second, theirs, again} {
			r.Close()
		}
	})
}

// What is read grows neither with the readers nor with other organizations.
func TestWorkDoesNotGrowWithReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, us := newWorld(), uuid.New()
		hub := live.NewHub(live.Deps{Log: w, Runs: w, Each: 100})
		var readers []*live.Reader
		for range 100 {
			readers = append(readers, follow(t, hub, owner(us), ""))
		}
		w.looked = 0
		for range 10 {
			w.write(us, "x")
			w.write(uuid.New(), "theirs")
		}
		hub.Wake(us)
		for _, r := range readers {
			read(t, r, func(b live.Batch) bool { return b.At.Log >= 19 })
			r.Close()
		}
		if w.looked > 12 {
			t.Errorf("%d rows were looked at for 10 events", w.looked)
		}
	})
}
