package shred

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
)

// fake is all that a Shredder works with, in memory.
type fake struct {
	mu       sync.Mutex
	orders   []Order
	replaced chan struct{}
	empty    map[uuid.UUID]chan struct{}
	rows     map[string]map[uuid.UUID]int // by part
	failing  uuid.UUID
	calls    []string
	late     int // rows that a request which was inside writes when it leaves
	log      strings.Builder
}

func newFake(orders ...Order) *fake {
	f := &fake{orders: orders, replaced: make(chan struct{}), empty: map[uuid.UUID]chan struct{}{},
		rows: map[string]map[uuid.UUID]int{"keys": {}, "states": {}}}
	for _, o := range orders {
		f.rows["keys"][o.Org], f.rows["states"][o.Org] = 1, 450
	}
	return f
}

func (f *fake) Shut(org uuid.UUID) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.empty[org] == nil {
		f.empty[org] = make(chan struct{})
		if f.late == 0 {
			close(f.empty[org])
		}
	}
	return f.empty[org]
}

func (f *fake) Open(org uuid.UUID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.empty, org)
}

// leave has the request that is inside write and leave.
func (f *fake) leave(org uuid.UUID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rows["states"][org] += f.late
	close(f.empty[org])
}

type fakePart struct {
	*fake
	name string
}

func (p fakePart) Shred(_ context.Context, org uuid.UUID, limit int) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if org == p.failing {
		return 0, errors.New("the disk is away")
	}
	n := min(p.rows[p.name][org], limit)
	p.rows[p.name][org] -= n
	p.calls = append(p.calls, p.name)
	return n, nil
}

func (f *fake) left(org uuid.UUID) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rows["keys"][org] + f.rows["states"][org]
}

func (f *fake) order(orders ...Order) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.orders = orders
	close(f.replaced)
	f.replaced = make(chan struct{})
}

func (f *fake) start(t *testing.T, receipts Receipts) (stop func()) {
	t.Helper()
	s := New(Config{
		Orders:   func() []Order { f.mu.Lock(); defer f.mu.Unlock(); return append([]Order(nil), f.orders...) },
		Replaced: func() <-chan struct{} { f.mu.Lock(); defer f.mu.Unlock(); return f.replaced },
		Doors:    f, Parts: []Part{{"keys", fakePart{f, "keys"}}, {"states", fakePart{f, "states"}}},
		Receipts: receipts, Log: slog.New(slog.NewTextHandler(&f.log, nil)), Now: time.Now,
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); s.Run(ctx) }()
	return func() { cancel(); <-ended }
}

func has(t *testing.T, r Receipts, o Order) bool {
	t.Helper()
	done, err := r.Has(o)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func newOrder() Order {
	return Order{Org: uuid.New(), Name: "Acme", At: time.Date(2026, 11, 22, 17, 30, 0, 0, time.UTC)}
}

// What is ordered is destroyed at once, the keys first, also when the order comes later; and never
// again once there is a receipt, whatever the organization has by then.
func TestShredderObeys(t *testing.T) {
	folder := Folder(filepath.Join(t.TempDir(), FolderName))
	synctest.Test(t, func(t *testing.T) {
		first, second := newOrder(), newOrder()
		f := newFake(first, second)
		f.orders = f.orders[:1]
		stop := f.start(t, folder)
		synctest.Wait()
		if f.left(first.Org) != 0 || f.left(second.Org) == 0 || !has(t, folder, first) || f.calls[0] != "keys" {
			t.Fatalf("%d and %d are left, %v", f.left(first.Org), f.left(second.Org), f.calls)
		}
		f.order(first, second)
		synctest.Wait()
		if f.left(second.Org) != 0 || !has(t, folder, second) {
			t.Errorf("%d are left", f.left(second.Org))
		}
		for _, said := range []string{"destroying all data", "is destroyed", "states=450", "keys=1"} {
			if !strings.Contains(f.log.String(), said) {
				t.Errorf("the log lacks %q:\n%s", said, f.log.String())
			}
		}
		f.rows["states"][first.Org] = 5 // it is there anew
		f.order(first)
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		if f.left(first.Org) != 5 {
			t.Error("what came after the receipt is destroyed")
		}
		stop()
		again := first
		again.At = again.At.Add(time.Second)
		f.order(again)
		stop = f.start(t, folder)
		synctest.Wait()
		if f.left(first.Org) != 0 || has(t, folder, first) || !has(t, folder, again) {
			t.Error("another order for the same organization is not obeyed")
		}
		stop()
	})
}

// Somebody is inside when the order comes: what they write is destroyed too, before it is said to be
// done.
func TestShredderWaitsForThoseInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrder()
		f := newFake(o)
		f.late = 7
		r := &Remembered{}
		stop := f.start(t, r)
		synctest.Wait()
		if f.left(o.Org) != 0 || has(t, r, o) {
			t.Fatal("it is said to be done while somebody is inside")
		}
		f.leave(o.Org)
		synctest.Wait()
		if f.left(o.Org) != 0 || !has(t, r, o) {
			t.Errorf("%d are left", f.left(o.Org))
		}
		stop()
	})
}

// One that fails is gone on with in a minute, and keeps nobody else's from being destroyed; one that is
// taken back stays as far as it is there.
func TestShredderTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad, good := newOrder(), newOrder()
		f := newFake(bad, good)
		f.failing = bad.Org
		r := &Remembered{}
		stop := f.start(t, r)
		synctest.Wait()
		if f.left(good.Org) != 0 || f.left(bad.Org) == 0 || has(t, r, bad) ||
			!strings.Contains(f.log.String(), "the disk is away") {
			t.Fatalf("%d and %d are left", f.left(good.Org), f.left(bad.Org))
		}
		f.mu.Lock()
		f.failing = uuid.Nil
		f.mu.Unlock()
		time.Sleep(again)
		synctest.Wait()
		if f.left(bad.Org) != 0 || !has(t, r, bad) {
			t.Errorf("%d are left", f.left(bad.Org))
		}
		stop()
	})
	synctest.Test(t, func(t *testing.T) {
		o := newOrder()
		f := newFake(o)
		f.late = 1
		r := &Remembered{}
		stop := f.start(t, r)
		synctest.Wait()
		f.mu.Lock()
		f.late = 9
		f.mu.Unlock()
		f.order()
		f.leave(o.Org)
		synctest.Wait()
		if f.left(o.Org) != 9 || has(t, r, o) || !strings.Contains(f.log.String(), "says no more") {
			t.Errorf("%d are left of what was taken back", f.left(o.Org))
		}
		if f.empty[o.Org] != nil {
			t.Error("the door is shut")
		}
		stop()
	})
}

// While somebody is inside who came before, an order can be taken back: the organization is let in again
// at once, and the next order's turn comes.
func TestShredderWaitsForNobodyWhoseOrderIsTakenBack(t *testing.T) {
	folder := Folder(filepath.Join(t.TempDir(), FolderName))
	synctest.Test(t, func(t *testing.T) {
		first, second := newOrder(), newOrder()
		f := newFake(first, second)
		f.orders, f.late = f.orders[:1], 3
		stop := f.start(t, folder)
		synctest.Wait() // at the doors
		f.late = 0
		f.order(second)
		time.Sleep(again + time.Second)
		synctest.Wait()
		f.mu.Lock()
		_, shut := f.empty[first.Org]
		f.mu.Unlock()
		if shut || has(t, folder, first) || f.left(second.Org) != 0 || !has(t, folder, second) {
			t.Errorf("shut %v, a receipt %v; %d are left of the other", shut, has(t, folder, first), f.left(second.Org))
		}
		stop()
	})
}
