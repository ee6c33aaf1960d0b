package linear

import (
	"fmt"
	"hash/maphash"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state/statemodel"
)

// Failure is a state whose history has no order, or none that was found in time.
type Failure struct {
	Name    string
	Decided bool   // there is none
	Picture string // the file that shows it, for a browser
	Kept    string // the file that has it, for Load
}

func (f Failure) Error() string {
	if !f.Decided {
		return fmt.Sprintf("state %s: whether there is an order of its calls was not found out; they are drawn in %s and "+
			"kept in %s", f.Name, f.Picture, f.Kept)
	}
	return fmt.Sprintf("state %s: there is no order of its calls in which one state answers the same; they are drawn in %s "+
		"and kept in %s", f.Name, f.Picture, f.Kept)
}

// Check looks for an order of each state's calls. Where there is none, or none was found with so much
// patience, it keeps the state's history in dir, and its picture. The history must be complete.
func (h *History) Check(patience time.Duration, dir string) (failed []Failure) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(h.calls)) {
		if f := check(name, h.calls[name], patience, dir); f != nil {
			failed = append(failed, *f)
		}
	}
	return failed
}

// check has Porcupine judge: the search only tells it where calls without an answer may have had their
// effects, which leaves fewer orders and adds none. When the search has found that there is none, Porcupine
// has some time to find one all the same, and to draw.
func check(name string, calls []porcupine.Operation, patience time.Duration, dir string) *Failure {
	m := model()
	found, path := orderOf(calls, patience)
	if found == ordered && porcupine.CheckOperationsTimeout(m, narrowed(calls, path), patience) == porcupine.Ok {
		return nil
	}
	if found == unordered {
		patience = min(patience, drawingTime)
	}
	result, info := porcupine.CheckOperationsVerbose(m, drawable(calls), patience)
	if result == porcupine.Ok {
		return nil
	}
	f := &Failure{Name: name, Decided: found == unordered || result == porcupine.Illegal,
		Picture: filepath.Join(dir, name+".html"), Kept: filepath.Join(dir, name+".json")}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		f.Picture, f.Kept = "no file: "+err.Error(), "none"
		return f
	}
	if err := porcupine.VisualizePath(m, info, f.Picture); err != nil {
		f.Picture = "no file: " + err.Error()
	}
	if err := save(f.Kept, calls); err != nil {
		f.Kept = "no file: " + err.Error()
	}
	return f
}

// drawingTime is how long Porcupine looks at a history of which it is known that it has no order.
const drawingTime = 2 * time.Second

// narrowed has calls without an answer end where the order has them, and leaves out those that it
// has not.
func narrowed(calls []porcupine.Operation, path *placed) (narrow []porcupine.Operation) {
	ends := map[int]int64{}
	for ; path != nil; path = path.before {
		ends[path.call] = path.at
	}
	for i, c := range calls {
		if at, ok := ends[i]; c.Return != never {
			narrow = append(narrow, c)
		} else if ok {
			c.Return = at
			narrow = append(narrow, c)
		}
	}
	return narrow
}

// drawable has calls without an answer end a little after the last: the picture is as wide as
// its longest call.
func drawable(calls []porcupine.Operation) []porcupine.Operation {
	last := int64(0)
	for _, c := range calls {
		if c.Return != never {
			last = max(last, c.Return)
		}
		last = max(last, c.Call)
	}
	calls = slices.Clone(calls)
	for i := range calls {
		calls[i].Return = min(calls[i].Return, last+1)
	}
	return calls
}

// kept is a state with the bodies of its versions, each ended by a bar: rollbacks are to them.
type kept struct {
	statemodel.Model
	Bodies string
	Origin uint64 // the version that the newest was rolled back to; 0 for none
}

func model() porcupine.Model {
	seed := maphash.MakeSeed()
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{kept{}} },
		Step: func(before, input, output any) []any {
			return before.(kept).step(input.(Call), output.(Told))
		},
		Hash:              func(s any) uint64 { return maphash.Comparable(seed, s.(kept)) },
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%v -> %v", input, output) },
		DescribeState: func(s any) string {
			k := s.(kept)
			return fmt.Sprintf("version %d %s deleted=%t lock=%s", k.Number, k.Body, k.Deleted, k.Holder)
		},
	}
	return m.ToModel()
}

// step returns the states that may follow: none if the answer can't be.
func (k kept) step(call Call, told Told) []any {
	if call.Kind == Rollback && told.Code == fault.CandidateStale {
		return []any{k} // a write came between: nothing is done
	}
	after, want := k.apply(call)
	switch {
	case told.Unknown && after == k:
		return []any{k}
	case told.Unknown:
		return []any{k, after}
	case told.Outcome == want:
		return []any{after}
	}
	return nil
}

func (k kept) apply(call Call) (kept, statemodel.Outcome) {
	if call.Kind == Versions {
		return k, k.list()
	}
	var out statemodel.Outcome
	before := k.Number
	if call.Kind == Rollback {
		k, out = k.rollback(call)
	} else {
		k.Model, out = k.Apply(call.Op)
	}
	if k.Number > before {
		k.Bodies += k.Body + "|"
		if call.Kind != Rollback {
			k.Origin = 0
		}
	}
	return k, out
}

// rollback makes the content of an older version the newest one, with a serial above all.
func (k kept) rollback(call Call) (kept, statemodel.Outcome) {
	bodies := strings.Split(k.Bodies, "|")
	if call.Version == 0 || call.Version >= uint64(len(bodies)) {
		return k, statemodel.Outcome{Code: fault.VersionNotFound}
	}
	mark, _, _ := strings.Cut(bodies[call.Version-1], "@")
	again := k.Exists() && k.Origin == call.Version // it is the newest already
	if !again || k.Holder == call.ID || call.ID != "" {
		put := call.Op
		put.Kind, put.Body, put.Release = "put", fmt.Sprintf("%s@%d", mark, highest(bodies)+1), false
		if again {
			put.Body = k.Body
		}
		next, out := k.Apply(put)
		if out.Code == "" {
			k.Model, k.Origin = next, call.Version
		}
		return k, out
	}
	return k, statemodel.Outcome{Number: k.Number}
}

// highest returns the highest serial of the marks.
func highest(marks []string) (serial uint64) {
	for _, mark := range marks {
		_, text, _ := strings.Cut(mark, "@")
		n, _ := strconv.ParseUint(text, 10, 64) // the last one is empty
		serial = max(serial, n)
	}
	return serial
}
