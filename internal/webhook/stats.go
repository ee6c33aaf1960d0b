package webhook

import (
	"sync/atomic"
	"time"
)

// Stats are what became of notices since the start, and what there is now.
type Stats struct {
	Delivered int64
	Failed    int64 // tries that did not end well
	Dropped   int64 // notices that were given up
	Waiting   int64
	Oldest    time.Time // of those that wait; zero for none
}

// counts are the Stats of a Notifier, for whoever asks.
type counts struct {
	delivered, failed, dropped, waiting, oldest atomic.Int64
}

// Stats may be called at any time.
func (f *Notifier) Stats() Stats {
	s := Stats{
		Delivered: f.counts.delivered.Load(), Failed: f.counts.failed.Load(), Dropped: f.counts.dropped.Load(),
		Waiting: f.counts.waiting.Load(),
	}
	if micros := f.counts.oldest.Load(); micros != 0 {
		s.Oldest = time.UnixMicro(micros).UTC()
	}
	return s
}

// count notes what waits.
func (f *Notifier) count() {
	f.counts.waiting.Store(int64(f.backlog.total))
	oldest := int64(0)
	for _, l := range f.backlog.order {
		for _, e := range l.events[:min(len(l.events), 1)] {
			if at := e.At.UnixMicro(); oldest == 0 || at < oldest {
				oldest = at
			}
		}
	}
	f.counts.oldest.Store(oldest)
}
