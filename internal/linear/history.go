package linear

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
		h.calls[name] = append(h.calls[name],
			porcupine.Operation{ClientId: client, Input: call, Output: told, Call: int64(began), Return: ended})
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

// names are the states that were asked for.
func (h *History) names() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.calls))
}

// keptCall is a call as a file has it.
type keptCall struct {
	Client int
	Call   Call
	Told   Told
	From   int64
	To     int64 // the largest there is when it was not answered
}

// save writes the calls of one state to a file.
func save(file string, calls []porcupine.Operation) error {
	kept := make([]keptCall, len(calls))
	for i, c := range calls {
		kept[i] = keptCall{c.ClientId, c.Input.(Call), c.Output.(Told), c.Call, c.Return}
	}
	text, err := json.MarshalIndent(kept, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// Load returns the history of one state that Check has kept.
func Load(file string) (*History, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var kept []keptCall
	if err := json.Unmarshal(text, &kept); err != nil {
		return nil, err
	}
	h := NewHistory()
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	for _, k := range kept {
		h.calls[name] = append(h.calls[name],
			porcupine.Operation{ClientId: k.Client, Input: k.Call, Output: k.Told, Call: k.From, Return: k.To})
	}
	return h, nil
}
