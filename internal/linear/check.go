package linear

import (
	"cmp"
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
}

func (f Failure) Error() string {
	if !f.Decided {
		return fmt.Sprintf("state %s: no order of its calls was found in time; they are drawn in %s", f.Name, f.Picture)
	}
	return fmt.Sprintf("state %s: there is no order of its calls in which one state answers the same; they are drawn in %s", f.Name, f.Picture)
}

// Check looks for an order of each state's calls, for at most patience each, and keeps the
// picture of each that has none in dir. The history must be complete.
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

func check(name string, calls []porcupine.Operation, patience time.Duration, dir string) *Failure {
	m := model()
	result := porcupine.CheckOperationsTimeout(m, calls, patience)
	if result == porcupine.Ok {
		return nil
	}
	_, info := porcupine.CheckOperationsVerbose(m, drawable(calls), patience)
	f := &Failure{Name: name, Decided: result == porcupine.Illegal, Picture: filepath.Join(dir, name+".html")}
	err := os.MkdirAll(dir, 0o700)
	if err = cmp.Or(err, porcupine.VisualizePath(m, info, f.Picture)); err != nil {
		f.Picture = "no file: " + err.Error()
	}
	return f
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
