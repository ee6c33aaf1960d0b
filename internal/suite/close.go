package suite

import (
	"io"
	"runtime"
	"testing"
	"time"
)

// Close closes a store that is to be opened again, or that nobody needs any more.
func Close(t *testing.T, store io.Closer) {
	t.Helper()
	if err := store.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

// CloseChecked closes a store that was opened when there were so many goroutines.
func CloseChecked(t *testing.T, store io.Closer, before int) {
	t.Helper()
	if err := store.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if !Soon(func() bool { return runtime.NumGoroutine() <= before }) {
		stacks := make([]byte, 1<<16)
		stacks = stacks[:runtime.Stack(stacks, true)]
		t.Errorf("%d goroutines before the store was opened, %d after it was closed:\n%s", before, runtime.NumGoroutine(),
			stacks)
	}
}

// Soon polls until done, for five seconds at most.
func Soon(done func() bool) bool {
	for range 500 {
		if done() {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}
