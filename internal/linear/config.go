package linear

import (
	"fmt"
	"slices"
	"strings"
)

// config is what the state may be at a moment, and what has led there.
type config struct {
	kept
	ahead []int // calls that are placed and have not returned, sorted
	used  []int // calls without an answer that are placed, sorted
	path  *placed
}

// placed is the order that has led to a state, the last call first.
type placed struct {
	call   int
	at     int64 // it is placed before this moment
	before *placed
}

// configs are possibilities. Those of one key differ only in what is left to come.
type configs map[key][]*config

// add keeps a configuration, unless there is one that leaves as much open.
func (s *search) add(to configs, c *config) bool {
	key := s.key(c)
	s.isLate(2 * len(to[key])) // each is compared with twice
	for _, other := range to[key] {
		if s.leavesMore(other, c) {
			return false
		}
	}
	to[key] = append(slices.DeleteFunc(to[key], func(other *config) bool { return s.leavesMore(c, other) }), c)
	return true
}

// leavesMore says whether all that may follow b may follow a, which has the same key: it has used no call
// without an answer that may have an effect in b, and released no lock that may still be granted to one who
// asks for it.
func (s *search) leavesMore(a, b *config) bool {
	for _, n := range a.used {
		if _, used := slices.BinarySearch(b.used, n); !used && !s.isSpent(b, n) {
			return false
		}
	}
	for id := range strings.SplitSeq(a.Used, "|") {
		if s.granted[id] >= s.now && !b.WasReleased(id) {
			return false
		}
	}
	return true
}

// key is equal for configurations of which one may stand for the other.
type key struct {
	kept
	ahead string
}

// key leaves out what nobody can tell any more: of the IDs that were released those count of which
// somebody is yet to be told so, and the last one only while somebody who names it is yet to be answered.
func (s *search) key(c *config) key {
	k := c.kept
	var used []string
	for id := range strings.SplitSeq(k.Used, "|") {
		if s.refused[id] >= s.now {
			used = append(used, id)
		}
	}
	slices.Sort(used)
	k.Used = strings.Join(slices.Compact(used), "|")
	if s.named[k.Released] < s.now {
		k.Released = ""
	}
	return key{k, fmt.Sprint(c.ahead)}
}

// with returns a sorted set with one more element.
func with(set []int, n int) []int {
	at, _ := slices.BinarySearch(set, n)
	return slices.Insert(slices.Clone(set), at, n)
}

// without returns a set that an element was taken out of.
func without(set []int, n int) []int {
	return slices.DeleteFunc(slices.Clone(set), func(m int) bool { return m == n })
}

// isSpent says whether a call can have no effect any more: it names a lock that was released, and that nobody can
// take again.
func (s *search) isSpent(c *config, call int) bool {
	id := s.calls[call].Input.(Call).ID
	return id != "" && c.WasReleased(id)
}
