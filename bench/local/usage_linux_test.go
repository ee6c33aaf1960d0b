package local

import "testing"

func TestProcessorTime(t *testing.T) {
	stat := []byte("4711 (a) name) S 1 4711 4711 0 -1 4194560 1 2 3 4 150 75 8 9 20 0 12 0")
	if got, err := processorTime(stat); err != nil || got != 2.25 {
		t.Errorf("%v seconds, %v; want 1.5 and 0.75", got, err)
	}
	if _, err := processorTime([]byte("4711 (name) S 1")); err == nil {
		t.Error("a line that is cut off is no error")
	}
}
