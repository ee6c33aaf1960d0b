package mask

import (
	"maps"
	"slices"
)

// automaton is that of Aho and Corasick: it finds all patterns in one pass. Its states are the
// beginnings of patterns; the state of a text is the longest one that the text ends with.
// State 0 is the empty one.
type automaton struct {
	states []state
	labels []byte // by state: the last byte of the beginning that it is
	// What each byte leads to from each of the first states, which are the shortest and the
	// ones that most of a text has.
	rows [][256]int32
	// longest is how many bytes the longest pattern has.
	longest int
}

// mostRows bounds the rows to a MiB.
const mostRows = 1024

type state struct {
	first   int32 // of the states that are one byte longer, which are in a row, by their labels
	count   int32 // how many these are
	shorter int32 // the longest state that this one ends with
	depth   int32 // how many bytes it has
	match   int32 // how many bytes the longest pattern has that it ends with; 0 for none
}

// span is a part of the sorted patterns that begin alike.
type span struct{ from, to int }

// newAutomaton makes the states level by level, so that each comes after all shorter ones.
func newAutomaton(all patterns) *automaton {
	sorted := slices.Sorted(maps.Keys(all))
	a := &automaton{states: []state{{}}, labels: []byte{0}}
	spans := []span{{0, len(sorted)}}
	for i := 0; i < len(a.states); i++ {
		at := int(a.states[i].depth)
		a.longest = max(a.longest, at)
		rest := spans[i]
		for rest.from < rest.to && len(sorted[rest.from]) == at {
			a.states[i].match = int32(at)
			rest.from++
		}
		a.states[i].first = int32(len(a.states))
		for rest.from < rest.to {
			label, end := sorted[rest.from][at], rest.from+1
			for end < rest.to && sorted[end][at] == label {
				end++
			}
			a.extend(int32(i), label)
			spans = append(spans, span{rest.from, end})
			rest.from = end
		}
		spans[i] = span{}
	}
	a.link()
	return a
}

// extend adds a state that is one byte longer than the last one that is being made.
func (a *automaton) extend(from int32, label byte) {
	a.states[from].count++
	a.states = append(a.states, state{depth: a.states[from].depth + 1})
	a.labels = append(a.labels, label)
}

// link finds what each state ends with, from the shortest to the longest.
func (a *automaton) link() {
	a.rows = make([][256]int32, min(len(a.states), mostRows))
	for from := range a.states {
		s := a.states[from]
		if from < len(a.rows) {
			a.rows[from] = a.rows[s.shorter]
		}
		for to := s.first; to < s.first+s.count; to++ {
			longer := &a.states[to]
			if from != 0 {
				longer.shorter = a.next(s.shorter, a.labels[to])
			}
			longer.match = max(longer.match, a.states[longer.shorter].match)
			if from < len(a.rows) {
				a.rows[from][a.labels[to]] = to
			}
		}
	}
}

// next returns the state of a text that had the state from before this byte. Each step to a
// shorter state takes back one that a byte added, so that a text takes linear time.
func (a *automaton) next(from int32, b byte) int32 {
	for int(from) >= len(a.rows) {
		if to := a.longer(from, b); to != 0 {
			return to
		}
		from = a.states[from].shorter
	}
	return a.rows[from][b]
}

// longer returns the state that is one byte longer than from, or 0.
func (a *automaton) longer(from int32, b byte) int32 {
	s := &a.states[from]
	if s.count == 1 {
		if a.labels[s.first] == b {
			return s.first
		}
		return 0
	}
	if i, found := slices.BinarySearch(a.labels[s.first:s.first+s.count], b); found {
		return s.first + int32(i)
	}
	return 0
}
