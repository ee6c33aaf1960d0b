package inventorytest

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// timeline orders the calls of many callers: when each began, and when it was answered.
type timeline struct {
	clock atomic.Int64
	mu    sync.Mutex
	calls map[string]*span // by batch ID
}

// span is a call; answered is zero while there is no answer.
type span struct{ begun, answered int64 }

func newTimeline() *timeline { return &timeline{calls: map[string]*span{}} }

func (l *timeline) begin(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls[id] = &span{begun: l.clock.Add(1)}
}

func (l *timeline) answer(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls[id].answered = l.clock.Add(1)
}

// check compares a reading that began at the given time with the calls: each batch is
// there once if it was answered by then, none was never sent, and none stands before a
// batch that was answered when it began.
func (l *timeline) check(ids []string, began int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen, latest := map[string]bool{}, int64(0)
	for _, id := range ids {
		call, ok := l.calls[id]
		switch {
		case !ok:
			return fmt.Errorf("batch %s is there, and nobody sent it", id)
		case seen[id]:
			return fmt.Errorf("batch %s is there twice", id)
		case call.answered > 0 && call.answered < latest:
			return fmt.Errorf("batch %s stands behind one that was sent after it was recorded", id)
		}
		seen[id], latest = true, max(latest, call.begun)
	}
	for id, call := range l.calls {
		if call.answered > 0 && call.answered < began && !seen[id] {
			return fmt.Errorf("batch %s was recorded, and a reading that began later lacks it", id)
		}
	}
	return nil
}
