package seal

import "testing"

// TestMark: a mark is of its key, its purpose and its parts, and of no others that have the same bytes.
func TestMark(t *testing.T) {
	m, other := NewMaster(), NewMaster()
	mark := m.Mark("a", "bc", "d")
	both := &Master{keys: append(append([]masterKey{}, other.keys...), m.keys...)}
	if !m.IsMark(mark, "a", "bc", "d") || !both.IsMark(mark, "a", "bc", "d") {
		t.Error("a mark is not known again")
	}
	if other.IsMark(mark, "a", "bc", "d") || m.IsMark(nil, "a", "bc", "d") || m.IsMark(mark, "b", "bc", "d") ||
		m.IsMark(mark, "a", "b", "cd") || m.IsMark(mark, "a", "bc") {
		t.Error("a mark is taken for another")
	}
}
