// Package runlog keeps the log of a stage in a file, masked already, and brings it to the
// server: by offsets, so that an unreachable server costs no line and blocks nobody.
//
// A log that grows beyond its bound loses its middle. Its first half is there as it comes; of
// what follows the newest is kept in a ring beside it, and comes behind the first half when the
// stage has ended, with a line that says how much was left out.
package runlog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// noteRoom is what the lines about a truncated log take at most.
const noteRoom = 512

// minBytes is the least bound of a log: below it there would be no room for its halves.
const minBytes = 4 * noteRoom

// Log is a log that is being written. It is safe for one writer beside many readers.
type Log struct {
	file, ring *os.File
	head       int64 // bytes of the first half at most
	room       int64 // bytes of the ring

	mu      sync.Mutex
	size    int64 // of the file: what can be read
	beyond  int64 // bytes that came behind the first half
	noted   bool  // that the rest comes later
	ended   bool
	changed chan struct{} // closed at the next change
}

// Create makes the log at path, in the place of an older one. It never has more than maxBytes; 0
// is for no bound.
func Create(path string, maxBytes int64) (*Log, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	l := &Log{file: file, changed: make(chan struct{})}
	if maxBytes > 0 {
		half := (max(maxBytes, minBytes) - noteRoom) / 2
		l.head, l.room = half, half
		if l.ring, err = os.OpenFile(path+".rest", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	return l, nil
}

// Write appends to the log. What it could not write, it has not: the same bytes may come again.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return 0, os.ErrClosed
	}
	direct := p
	if l.ring != nil {
		direct = p[:max(0, min(int64(len(p)), l.head-l.size))]
		if l.noted {
			direct = nil
		}
	}
	if err := l.append(direct); err != nil {
		return 0, err
	}
	for n := len(direct); n < len(p); {
		kept, err := l.keep(p[n:])
		if err != nil {
			return n, err
		}
		n += kept
	}
	return len(p), nil
}

// append writes behind what can be read.
func (l *Log) append(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	if _, err := l.file.WriteAt(p, l.size); err != nil {
		return err
	}
	l.size += int64(len(p))
	l.announce()
	return nil
}

// keep writes the first bytes of p into the ring, as many as it takes without a turn.
func (l *Log) keep(p []byte) (int, error) {
	if !l.noted {
		note := fmt.Sprintf("\n[holdfast: the log has %d bytes so far; what follows is shown when the stage has ended, "+
			"without its middle if it is too long]\n", l.size)
		if err := l.append([]byte(note)); err != nil {
			return 0, err
		}
		l.noted = true
	}
	at := l.beyond % l.room
	p = p[:min(int64(len(p)), l.room-at)]
	if _, err := l.ring.WriteAt(p, at); err != nil {
		return 0, err
	}
	l.beyond += int64(len(p))
	return len(p), nil
}

// End says that nothing more comes, and shows what is in the ring.
func (l *Log) End() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return nil
	}
	if l.beyond > 0 {
		if err := l.unroll(); err != nil {
			return err
		}
	}
	l.ended = true
	l.announce()
	return nil
}

// unroll brings the ring behind the first half. An error leaves the log as it was.
func (l *Log) unroll() error {
	before := l.size
	lost, start := max(0, l.beyond-l.room), int64(0)
	if lost > 0 {
		start = l.beyond % l.room
		note := fmt.Sprintf("\n[holdfast: %d bytes are left out here]\n", lost)
		if err := l.append([]byte(note)); err != nil {
			return err
		}
	}
	parts := []io.Reader{io.NewSectionReader(l.ring, start, min(l.beyond, l.room)-start),
		io.NewSectionReader(l.ring, 0, start)}
	if _, err := io.Copy(appender{l}, io.MultiReader(parts...)); err != nil {
		l.size = before
		return err
	}
	return nil
}

type appender struct{ *Log }

func (a appender) Write(p []byte) (int, error) {
	if err := a.append(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (l *Log) announce() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// State returns how many bytes can be read, whether the log has ended, and what is closed when
// either changes.
func (l *Log) State() (size int64, ended bool, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size, l.ended, l.changed
}

// ReadAt implements io.ReaderAt.
func (l *Log) ReadAt(p []byte, offset int64) (int, error) { return l.file.ReadAt(p, offset) }

// Close closes the files. It does not remove them.
func (l *Log) Close() error {
	err := l.file.Close()
	if l.ring != nil {
		err = errors.Join(err, l.ring.Close())
	}
	return err
}
