package memory

// NewInShortLooks returns a store whose lists look at two events at a time.
func NewInShortLooks() *Store {
	s := New(1 << 30)
	s.looks = 2
	return s
}
