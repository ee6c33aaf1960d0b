package webhook

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// moved are hosts that change.
type moved struct {
	mu sync.Mutex
	to hosts
}

func (m *moved) Receiver(org uuid.UUID) (Receiver, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.to.Receiver(org)
}

// move has an organization's notices go elsewhere, or nowhere.
func (m *moved) move(org uuid.UUID, host string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.to[org] = host; host == "" {
		delete(m.to, org)
	}
}

// shredAll shreds an organization to the end.
func shredAll(t *testing.T, f *Notifier, org uuid.UUID) (removed int) {
	t.Helper()
	for {
		n, err := f.Shred(t.Context(), org, 2)
		if err != nil || n > 2 {
			t.Fatalf("%d, %v", n, err)
		}
		if removed += n; n == 0 {
			return removed
		}
	}
}

func waitingOf(t *testing.T, box Outbox, org uuid.UUID) (n int) {
	t.Helper()
	_, _, waiting, err := box.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range waiting {
		if e.Org == org {
			n++
		}
	}
	return n
}

// TestShred destroys what waits for one of two organizations whose receivers refuse. Nothing of the
// first is tried, told or recorded from then on; the other's waits on.
func TestShred(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone, stays := numbered(1), numbered(2)
		to := &moved{to: hosts{gone: "503", stays: "503"}}
		source, box := &feed{}, NewMemoryOutbox()
		f, p, stop := postedFrom(t, source, box, to, time.Second)
		for range 5 {
			source.add(gone, audit.CandidateHold, "")
			source.add(stays, audit.CandidateHold, "")
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if waitingOf(t, box, gone) != 5 || f.Stats().Waiting != 10 {
			t.Fatalf("%d wait: the test shows nothing", waitingOf(t, box, gone))
		}
		to.move(gone, "")
		if n := shredAll(t, f, gone); n != 5 {
			t.Errorf("%d were removed", n)
		}
		if n := f.Stats().Waiting; n != 5 || waitingOf(t, box, gone) != 0 || waitingOf(t, box, stays) != 5 {
			t.Errorf("%d wait still, %d of the other", n, waitingOf(t, box, stays))
		}
		tries := f.Stats().Failed
		to.move(gone, "ok") // it is there anew
		to.move(stays, "ok")
		time.Sleep(time.Hour)
		synctest.Wait()
		if p.got(gone) != 0 || p.got(stays) != 5 || len(source.dropped(gone)) != 0 || f.Stats().Failed < tries {
			t.Errorf("%d were told of the one, %d of the other, dropped %q", p.got(gone), p.got(stays), source.dropped(gone))
		}
		stop()
	})
}

// TestShredWaitsForATry: a notice that is on its way may yet be recorded as dropped, so it is not said
// before that nothing is left.
func TestShredWaitsForATry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := numbered(1)
		to := &moved{to: hosts{gone: "stuck"}}
		source, box := &feed{}, NewMemoryOutbox()
		f, _, stop := postedFrom(t, source, box, to, time.Second)
		source.add(gone, audit.CandidateHold, "")
		source.add(gone, audit.CandidateHold, "")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		to.move(gone, "")
		began := time.Now()
		if n := shredAll(t, f, gone); n != 2 || time.Since(began) == 0 || waitingOf(t, box, gone) != 0 {
			t.Errorf("%d were removed after %s", n, time.Since(began))
		}
		if n := f.Stats().Waiting; n != 0 || f.backlog.posting != 0 {
			t.Errorf("%d wait still", n)
		}
		stop()
	})
}

// TestShredEnds with its context, where nobody follows.
func TestShredEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _, stop := postedFrom(t, &feed{}, NewMemoryOutbox(), hosts{}, time.Second)
		stop()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := f.Shred(ctx, numbered(1), 2); !errors.Is(err, ctx.Err()) || err == nil {
			t.Errorf("Shred returned %v", err)
		}
	})
}
