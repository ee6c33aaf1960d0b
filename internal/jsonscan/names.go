package jsonscan

import (
	"bytes"
	"hash/maphash"
)

// nameSet holds the names of the objects that are open, to find duplicates.
//
// It is a stack as well as a hash table: an object's names go when it closes, and those
// came last. So a name can be taken out of the table by emptying its slot: no later one
// probed past it. The hash is seeded, so nobody can send names that collide.
type nameSet struct {
	seed  maphash.Seed
	names []name
	slots []uint32 // a power of two; index into names plus one, zero is empty
}

type name struct {
	owner int // depth of its object, unique among those that are open
	text  []byte
	slot  uint64 // where it is in the table: to hash it again costs a tenth of a walk
}

func newNameSet() nameSet {
	return nameSet{seed: maphash.MakeSeed(), slots: make([]uint32, 128)}
}

// add returns false when the owner has the name already.
func (s *nameSet) add(owner int, text []byte) bool {
	n := name{owner: owner, text: text}
	slot := s.slot(n)
	for ; s.slots[slot] != 0; slot = s.after(slot) {
		other := s.names[s.slots[slot]-1]
		if other.owner == owner && bytes.Equal(other.text, text) {
			return false
		}
	}
	n.slot = slot
	s.names = append(s.names, n)
	s.slots[slot] = uint32(len(s.names))
	if len(s.names) > len(s.slots)/4*3 {
		s.grow()
	}
	return true
}

// forget takes out all names but the first count.
func (s *nameSet) forget(count int) {
	for _, n := range s.names[count:] {
		s.slots[n.slot] = 0
	}
	s.names = s.names[:count]
}

func (s *nameSet) grow() {
	s.slots = make([]uint32, 2*len(s.slots))
	for i, n := range s.names {
		slot := s.slot(n)
		for s.slots[slot] != 0 {
			slot = s.after(slot)
		}
		s.slots[slot] = uint32(i + 1)
		s.names[i].slot = slot
	}
}

// slot is where the search for a name starts.
func (s *nameSet) slot(n name) uint64 {
	hash := maphash.Bytes(s.seed, n.text) + uint64(n.owner)
	return hash & uint64(len(s.slots)-1)
}

func (s *nameSet) after(slot uint64) uint64 { return (slot + 1) & uint64(len(s.slots)-1) }
