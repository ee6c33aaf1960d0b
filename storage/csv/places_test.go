package csv

import (
	"context"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// crowd is a store with few places, in which the reading of some files is held up.
type crowd struct {
	*Store
	dir  string
	held sync.Map             // paths of files whose reading waits for resume
	stop atomic.Pointer[stop] // nil while nothing waits
}

type stop struct {
	waiting atomic.Int64
	resume  chan struct{}
}

const fewPlaces = 16 // 4 for appending, 2 for reading

// newCrowd has so many organizations with files of several segments, which have to be
// compared as a whole before their next use.
func newCrowd(t *testing.T, large int) (c *crowd, orgs []uuid.UUID) {
	t.Helper()
	c = &crowd{dir: t.TempDir()}
	options := Options{Dir: c.dir, OpenFiles: fewPlaces, flushEvery: time.Hour, openRead: c.open}
	s, err := Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	for range large {
		b := newBatch(uuid.New(), 3)
		for i := range b.Resources {
			b.Resources[i].Attributes = []byte(`{"large":"` + strings.Repeat("x", segmentSize) + `"}`)
		}
		upload(t, s, b)
		orgs = append(orgs, b.Org)
	}
	shut(t, s)
	for _, org := range orgs {
		if err := os.Chmod(s.path(org), 0o640); err != nil { // which changes the seal
			t.Fatal(err)
		}
		c.held.Store(s.path(org), true)
	}
	c.stop.Store(&stop{resume: make(chan struct{})})
	if c.Store, err = Open(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	return c, orgs
}

func (c *crowd) open(path string) (readFile, error) {
	if s := c.stop.Load(); s != nil {
		if _, held := c.held.Load(path); held {
			s.waiting.Add(1)
			<-s.resume
		}
	}
	return openRead(path)
}

// next lets the readings that are held up go on, and holds up those that begin from now on.
func (c *crowd) next() {
	s := c.stop.Swap(&stop{resume: make(chan struct{})})
	close(s.resume)
}

// end holds nothing up any more.
func (c *crowd) end() { close(c.stop.Swap(nil).resume) }

// TestVerifyingHoldsNoPlace has as many organizations compare a large file as there are
// places for appending: others upload all the same.
func TestVerifyingHoldsNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, large := newCrowd(t, fewPlaces/4)
		defer shut(t, c.Store)
		var uploads sync.WaitGroup
		for _, org := range large {
			uploads.Go(func() { upload(t, c.Store, newBatch(org, 1)) })
		}
		synctest.Wait() // all of them compare, or wait for their turn to
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for range 3 {
			if _, err := c.Append(ctx, newBatch(uuid.New(), 1)); err != nil {
				t.Errorf("an upload beside: %v", err)
			}
		}
		c.end()
		uploads.Wait()
	})
}

// TestVerifyingTakesTurns has as many organizations compare a large file as there are places
// for reading: who reads meanwhile waits for a piece of theirs, not for the files.
func TestVerifyingTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, large := newCrowd(t, 2)
		defer shut(t, c.Store)
		small := newBatch(uuid.New(), 2)
		upload(t, c.Store, small)
		var reads sync.WaitGroup
		for _, org := range large {
			reads.Go(func() {
				if _, err := c.Summary(t.Context(), org); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if n := c.stop.Load().waiting.Load(); n != 2 {
			t.Fatalf("%d files are being compared", n)
		}
		var done atomic.Bool
		reads.Go(func() {
			wantBatches(t, c.Store, small.Org, small)
			done.Store(true)
		})
		synctest.Wait() // it waits for a place
		c.next()
		synctest.Wait() // the files are compared to the end of the next piece
		if !done.Load() {
			t.Error("a read waits for more than a piece of a large file")
		}
		c.end()
		reads.Wait()
	})
}

// TestOneOrganizationsReadsLeaveRoom has one organization read as much at once as it can:
// another one reads beside it.
func TestOneOrganizationsReadsLeaveRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, large := newCrowd(t, 1)
		defer shut(t, c.Store)
		c.next() // nothing is held up so far
		c.stop.Store(nil)
		if _, err := c.Summary(t.Context(), large[0]); err != nil {
			t.Fatal(err)
		}
		c.stop.Store(&stop{resume: make(chan struct{})})
		small := newBatch(uuid.New(), 2)
		upload(t, c.Store, small)
		var reads sync.WaitGroup
		for range 10 {
			reads.Go(func() {
				if err := firstError(t, c.Store, large[0], inventory.Query{}); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		wantBatches(t, c.Store, small.Org, small)
		c.end()
		reads.Wait()
	})
}
