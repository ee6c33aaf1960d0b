package jsonscan

// push opens the container at i.
func (s *scanner) push(i int, kind uint64) bool {
	if s.depth >= s.maxDepth {
		s.err = &LimitError{Offset: i, Limit: "depth", Max: s.maxDepth}
		return false
	}
	if s.containers >= s.maxContainers {
		s.err = &LimitError{Offset: i, Limit: "containers", Max: s.maxContainers}
		return false
	}
	if s.depth > 0 && s.depth%64 == 0 {
		s.spill = append(s.spill, s.bits)
	}
	s.bits = s.bits<<1 | kind
	s.depth++
	s.containers++
	return true
}

// pop closes the innermost container.
func (s *scanner) pop() {
	s.depth--
	s.bits >>= 1
	if s.depth > 0 && s.depth%64 == 0 {
		last := len(s.spill) - 1
		s.bits = s.spill[last]
		s.spill = s.spill[:last]
	}
}
