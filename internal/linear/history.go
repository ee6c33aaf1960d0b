package linear

import (
	"math"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// never is when a call returns whose answer got lost.
const never = math.MaxInt64

// History is what was asked and told. It is safe for concurrent use.
type History struct {
	start time.Time

	mu    sync.Mutex
	calls map[string][]porcupine.Operation // by the state's name
	lost  int
}

// NewHistory returns an empty history, whose time begins now.
func NewHistory() *History {
	return &History{start: time.Now(), calls: map[string][]porcupine.Operation{}}
}

// record makes a call through the function and notes when it began and ended. A read that
// was not answered says nothing, and is left out.
func (h *History) record(client int, name string, call Call, make func() Told) Told {
	began := time.Since(h.start)
	told := make()
	ended := int64(time.Since(h.start))
	if told.Unknown {
		ended = never
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if told.Unknown {
		h.lost++
	}
	if !told.Unsent && (!told.Unknown || !call.reads()) {
		h.calls[name] = append(h.calls[name], porcupine.Operation{ClientId: client, Input: call, Output: told, Call: int64(began), Return: ended})
	}
	return told
}

// Size returns how many calls were made, and of how many the answer got lost.
func (h *History) Size() (calls, lost int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, of := range h.calls {
		calls += len(of)
	}
	return calls, h.lost
}

// length returns how many calls of a state are in the history.
func (h *History) length(name string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.calls[name])
}
