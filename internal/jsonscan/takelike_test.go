package jsonscan

import "testing"

// TestTakeLike takes a value that was taken before, and nothing else.
func TestTakeLike(t *testing.T) {
	for _, tt := range []struct {
		data, text string
		takes      bool
	}{
		{`[{"a":1},{"b":2}]`, `{"a":1}`, true},
		{`[ [1] ]`, `[1]`, true},
		{`[{"a":1}x`, `{"a":1}`, true}, // what follows is the list's affair
		{`[{"a":1}]`, `{"a":12}`, false},
		{`[{"a":1`, `{"a":1}`, false},
		{`[{"a":1}]`, ``, false},
		{`[{"a":1}]`, `{`, false},
		{`["text"]`, `"text"`, false},
		{`[12]`, `12`, false},
		{`[`, `{}`, false},
	} {
		c, took := NewCursor([]byte(tt.data), Limits{}), false
		_ = c.Each(func(child Child) error {
			at := c.At()
			if child.Index == 0 {
				took = c.TakeLike([]byte(tt.text))
			}
			if end := at + len(tt.text); child.Index == 0 && took && c.At() != end || !took && c.At() != at {
				t.Errorf("%s: it stands at %d", tt.data, c.At())
			}
			return nil
		})
		if took != tt.takes {
			t.Errorf("%s takes %s: %v", tt.data, tt.text, took)
		}
	}
}
