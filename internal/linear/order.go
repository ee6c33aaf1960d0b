package linear

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/holdfast/holdfast/fault"
)

// mostConfigs is how many possibilities the search looks at between two answers. A history that has more is
// one that it can't decide.
const mostConfigs = 1_000_000

// stepsALook is how many configurations are looked at between two looks at the clock.
const stepsALook = 256

// verdict is what a search has found.
type verdict int

const (
	ordered   verdict = iota
	unordered         // there is no order
	undecided
)

// search goes through a history in the order of time, and keeps all that the state may be at each
// moment. It is made for calls whose answers got lost, of which any may have its effect at any later
// moment, or never: Porcupine tries all ways to place them, one after the other, where most lead to a
// state that another way led to. The search keeps one of these, and only the one that leaves most open:
//
//   - A call is placed not before an answer makes it necessary.
//   - A read, or a call that was refused, is placed as soon as it is answered as it has to be: it changes
//     nothing there, nor anywhere else.
//   - Of calls without an answer that ask for the same, the first is placed first.
//   - Of two ways to one state, the one that has used fewer lost calls has all the other one has before it.
//   - Versions that are not those which the history ends with lead nowhere, nor does it to release a lock that
//     somebody is yet to be told is held.
type search struct {
	calls   []porcupine.Operation // of one state
	open    []int                 // calls that have begun, and have not returned or never will
	final   string                // the serials of all versions, oldest first
	bounded bool                  // there is a final
	refused map[string]int64      // until when somebody is told that a lock of this ID was released before
	granted map[string]int64      // until when a lock of this ID may be granted
	named   map[string]int64      // until when somebody is told whether this ID released its lock
	holds   map[string][]int      // the calls whose answers say that a lock of this ID is held
	ended   map[int]bool          // calls that have returned
	twins   map[int]int           // of a call without an answer, the last one before it that asked for the same
	now     int64
	configs []*config
	until   time.Time // when patience ends
	late    bool      // it has
	steps   int
}

// orderOf looks for an order of the calls, and returns the last one of it with those before.
func orderOf(calls []porcupine.Operation, patience time.Duration) (verdict, *placed) {
	s := newSearch(calls)
	s.until = time.Now().Add(patience)
	type moment struct {
		at      int64
		returns bool
		call    int
	}
	var moments []moment
	for i, c := range calls {
		moments = append(moments, moment{c.Call, false, i})
		if c.Return != never {
			moments = append(moments, moment{c.Return, true, i})
		}
	}
	slices.SortStableFunc(moments, func(a, b moment) int {
		if by := cmp.Compare(a.at, b.at); by != 0 || a.returns == b.returns {
			return by
		} else if a.returns {
			return 1 // as Porcupine has it: what begins when another call returns is beside it
		}
		return -1
	})
	for _, m := range moments {
		s.now = m.at
		if m.returns {
			s.end(m.call)
		} else {
			s.begin(m.call)
		}
		switch {
		case s.late:
			return undecided, nil
		case len(s.configs) == 0:
			return unordered, nil
		}
	}
	return ordered, s.configs[0].path
}

func newSearch(calls []porcupine.Operation) *search {
	s := &search{calls: calls, refused: map[string]int64{}, granted: map[string]int64{}, named: map[string]int64{},
		holds: map[string][]int{}, ended: map[int]bool{}, twins: map[int]int{}, configs: []*config{{}}}
	last := map[Call]int{}
	for _, i := range begun(calls) {
		c := calls[i]
		call, told := c.Input.(Call), c.Output.(Told)
		if c.Return == never {
			if twin, ok := last[call]; ok {
				s.twins[i] = twin
			}
			last[call] = i
		}
		if call.Kind == Versions && !told.Unknown && isLast(c, calls) {
			s.bounded = told.Code == "" || told.Code == fault.StateNotFound // no version has ever been there
			s.final = told.Body
		}
		s.note(call, told, c.Return)
		if id := holderIn(call, told); id != "" {
			s.holds[id] = append(s.holds[id], i)
		}
	}
	return s
}

// holderIn returns the ID of the lock that is held by what a call was told; empty where that says nothing.
func holderIn(call Call, told Told) string {
	switch {
	case told.Unknown:
		return ""
	case told.Holder != "" || told.Code != "":
		return told.Holder
	case call.Kind == "unlock" || call.Release:
		return "" // the answer to a second try is the same
	}
	return call.ID
}

// note remembers which IDs the answer to a call depends on, and until when.
func (s *search) note(call Call, told Told, until int64) {
	of := s.granted
	switch {
	case call.Kind == "lock" && told.Code == fault.LockIDUsed:
		of = s.refused
	case call.Kind == "lock":
	case until != never && (call.Kind == "unlock" || call.Release):
		of = s.named
	default:
		return
	}
	of[call.ID] = max(of[call.ID], until)
}

// begun returns the calls in the order in which they began.
func begun(calls []porcupine.Operation) []int {
	order := make([]int, len(calls))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(calls[a].Call, calls[b].Call) })
	return order
}

// isLast says whether a call began when all that were answered had been.
func isLast(c porcupine.Operation, calls []porcupine.Operation) bool {
	return !slices.ContainsFunc(calls, func(other porcupine.Operation) bool {
		return other.Call > c.Call || other.Return != never && other.Return > c.Return
	})
}

// isLate counts steps, and says whether patience has ended. A history may keep so many configurations that
// one answer to it takes minutes: whatever goes through them asks.
func (s *search) isLate(steps int) bool {
	before := s.steps / stepsALook
	s.steps += steps
	if !s.late && s.steps/stepsALook > before {
		s.late = time.Now().After(s.until)
	}
	return s.late
}

func (s *search) begin(call int) {
	s.open = append(s.open, call)
	for i, c := range s.configs {
		if s.isLate(len(s.open)) {
			return
		}
		s.configs[i] = s.settle(c)
	}
}

// settle places what changes no state.
func (s *search) settle(c *config) *config {
	for _, call := range s.open {
		o := s.calls[call]
		if !changesNothing(o) || slices.Contains(c.ahead, call) {
			continue
		}
		if after, ok := s.step(c, call); ok {
			c = s.place(c, call, after)
		}
	}
	return c
}

// changesNothing says whether a call changes no state, whichever it comes to: a successful one that finds
// all as it should be may be needed where it is not.
func changesNothing(o porcupine.Operation) bool {
	return o.Return != never && (o.Input.(Call).reads() || o.Output.(Told).Code != "")
}

// step returns the state that the call leads to. ok says that it has the answer that was given.
func (s *search) step(c *config, call int) (after kept, ok bool) {
	o := s.calls[call]
	states := c.step(o.Input.(Call), o.Output.(Told))
	if len(states) == 0 {
		return kept{}, false
	}
	return states[len(states)-1].(kept), true
}

func (s *search) place(c *config, call int, after kept) *config {
	next := &config{kept: after, ahead: c.ahead, used: c.used, path: &placed{call, s.now, c.path}}
	if s.calls[call].Return == never {
		next.used = with(c.used, call)
	} else {
		next.ahead = with(c.ahead, call)
	}
	return next
}

// end has the call be placed in all configurations, and forgets it. It is late where it can't keep them all.
func (s *search) end(call int) {
	seen, done := configs{}, configs{}
	todo := s.configs
	for n := 1; len(todo) > 0; n++ {
		if s.late = s.isLate(len(s.open)) || n > mostConfigs; s.late {
			return
		}
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if slices.Contains(c.ahead, call) {
			c.ahead = without(c.ahead, call)
			s.add(done, c)
			continue
		}
		if s.add(seen, c) {
			todo = append(todo, s.expand(c)...)
		}
	}
	s.open, s.ended[call] = without(s.open, call), true
	s.configs = s.configs[:0:0]
	for _, alike := range done {
		s.configs = append(s.configs, alike...)
	}
}

// expand returns what may follow when one more call is placed.
func (s *search) expand(c *config) (next []*config) {
	for _, call := range s.open {
		if slices.Contains(c.ahead, call) || slices.Contains(c.used, call) || s.hasTwin(c, call) {
			continue
		}
		after, ok := s.step(c, call)
		if !ok || changesNothing(s.calls[call]) || after == c.kept && s.calls[call].Return == never {
			continue
		}
		if c.Holder != "" && after.Holder != c.Holder && s.isHeldYet(c) {
			continue
		}
		if s.bounded && after.Number > c.Number && !strings.HasPrefix(s.final, after.serials()) {
			continue
		}
		next = append(next, s.settle(s.place(c, call, after)))
	}
	return next
}

// isHeldYet says whether there is an answer still to come that says that the lock is held, which nobody can take again
// once it is released.
func (s *search) isHeldYet(c *config) bool {
	return slices.ContainsFunc(s.holds[c.Holder], func(call int) bool {
		return !s.ended[call] && !slices.Contains(c.ahead, call)
	})
}

// hasTwin says whether a call without an answer asks for what an earlier one does that is not placed: there
// is no need to try both.
func (s *search) hasTwin(c *config, call int) bool {
	twin, ok := s.twins[call]
	return ok && !slices.Contains(c.used, twin)
}
