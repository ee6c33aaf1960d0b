package jsonscan_test

import (
	"testing"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

func TestMostValues(t *testing.T) {
	for text, want := range map[string][2]int{
		"":                          {0, 0},
		`{"a":[1,2],"b":{}}`:        {5, 5},
		`{"a":"{[,"}`:               {4, 1},
		`["\\",{}]`:                 {3, 3},
		`{"a\"[":"{\"b\":[1,2]}",}`: {6, 2},
	} {
		all, outside := jsonscan.MostValues([]byte(text)), jsonscan.MostValuesOutside([]byte(text))
		if got := [2]int{all, outside}; got != want {
			t.Errorf("%s: %v, not %v", text, got, want)
		}
	}
}
