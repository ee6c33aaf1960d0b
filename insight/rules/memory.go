package rules

import (
	"errors"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// errGreedy is of a rule that took more memory than it may.
var errGreedy = errors.New("greedy")

// watchEvery is how often memory is looked at: shorter than copying what a rule may have takes.
const watchEvery = 5 * time.Millisecond

// watcher looks at the process's memory while a rule is asked. What others of the process take
// meanwhile counts too, so its limit is far above what a rule in its right mind takes.
type watcher struct {
	over atomic.Bool
	done chan struct{} // nil where nothing is looked at
}

// watch calls cancel, once, when the heap has grown by more than limit bytes.
func watch(limit uint64, cancel func()) *watcher {
	w := &watcher{}
	if limit == 0 {
		return w
	}
	w.done = make(chan struct{})
	begin := heapBytes()
	go func() {
		ticker := time.NewTicker(watchEvery)
		defer ticker.Stop()
		for {
			select {
			case <-w.done:
				return
			case <-ticker.C:
				if heapBytes() > begin+limit {
					w.over.Store(true)
					cancel()
					return
				}
			}
		}
	}()
	return w
}

func (w *watcher) stop() {
	if w.done != nil {
		close(w.done)
	}
}

func (w *watcher) found() bool { return w.over.Load() }

// heapBytes is what objects take, those too that nothing refers to and that are not collected yet.
func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
