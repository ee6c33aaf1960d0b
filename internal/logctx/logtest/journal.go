// Package logtest is for tests that read what is logged or printed meanwhile.
package logtest

import (
	"bytes"
	"sync"
)

// Journal is a text that can be read while it is written. The zero Journal is empty.
type Journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (j *Journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

// String returns all that was written so far.
func (j *Journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}
