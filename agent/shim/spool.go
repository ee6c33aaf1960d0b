package shim

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// spool is the file of one stream. Writing to it never fails and never waits for the disk to
// have room: what can't be written is held back, the newest of it, and what can't be held is
// lost and counted.
type spool struct {
	mu    sync.Mutex
	file  spoolFile
	size  int64 // bytes in the file
	limit int64 // from which on what comes is held back until the end
	held  []byte
	hold  int    // how much may be held back
	gap   int64  // lost just before what is held
	note  []byte // the rest of a line about an earlier loss, which goes before all of that
	lost  int64  // in all
	stuck error  // why the file takes nothing just now
}

type spoolFile interface {
	WriteAt(p []byte, offset int64) (int, error)
	Sync() error
	Close() error
}

// maxHeld bounds what is held back of a stream.
const maxHeld = 1 << 20

// openSpool goes on where the file ends.
func openSpool(path string, limit int64) (*spool, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return newSpool(f, info.Size(), limit), nil
}

// newSpool leaves room below the limit for the end of the output, and a line that says what
// is missing before it.
func newSpool(f spoolFile, size, limit int64) *spool {
	hold := min(maxHeld, limit/4)
	return &spool{file: f, size: size, limit: limit - hold, hold: int(hold)}
}

// write takes all of p, somehow.
func (s *spool) write(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.behind() {
		p = p[s.append(p, s.limit):]
	}
	s.keep(p)
}

// append writes what fits below the limit, and returns how much that was.
func (s *spool) append(p []byte, limit int64) int {
	room := max(limit-s.size, 0)
	n, err := s.file.WriteAt(p[:min(int64(len(p)), room)], s.size)
	s.size += int64(n)
	s.stuck = err
	return n
}

// behind says whether something has to be written before what comes now.
func (s *spool) behind() bool { return len(s.held) > 0 || s.gap > 0 || len(s.note) > 0 }

// keep holds p back. The newest stays; the surplus goes in large pieces, not byte by byte.
func (s *spool) keep(p []byte) {
	s.held = append(s.held, p...)
	if len(s.held) > 2*s.hold {
		s.trim()
	}
}

func (s *spool) trim() {
	if over := len(s.held) - s.hold; over > 0 {
		s.gap, s.lost = s.gap+int64(over), s.lost+int64(over)
		s.held = append(s.held[:0], s.held[over:]...)
	}
}

// retry writes what a full disk held back, if there is room by now.
func (s *spool) retry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stuck != nil {
		s.release(s.limit)
	}
}

// waits reports whether the disk still takes not all that it is to have, after another try.
func (s *spool) waits() bool {
	s.retry()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stuck != nil && s.behind()
}

// release writes what is held back, after a line for what was lost before it.
func (s *spool) release(limit int64) {
	for len(s.note) > 0 || s.gap > 0 {
		if len(s.note) == 0 {
			s.note = fmt.Appendf(nil, "\n[holdfast: %d bytes of output are missing here]\n", s.gap)
			s.gap = 0
		}
		s.note = s.note[s.append(s.note, limit):]
		if len(s.note) > 0 {
			return
		}
	}
	n := s.append(s.held, limit)
	s.held = append(s.held[:0], s.held[n:]...)
}

// end writes what it can of what is still held back, and makes the file durable.
func (s *spool) end() (size, lost int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trim()
	s.release(s.limit + int64(s.hold) + lineRoom)
	s.lost += int64(len(s.held))
	s.held = nil
	_, _ = s.file.Sync(), s.file.Close() // nobody is there who could do better
	return s.size, s.lost
}

// lineRoom is for the line of what is missing, beyond the limit.
const lineRoom = 128
