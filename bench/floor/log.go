package floor

import (
	"bufio"
	"encoding/binary"
	"errors"
	"os"
	"sync/atomic"
)

const (
	// queued is how many records may wait for the one who writes.
	queued = 1024
	// smallWrites is how many bytes of small records go to the file at once.
	smallWrites = 256 << 10
)

// Log is one file that records are appended to, with group commit: whatever waits is
// written together, and then fsynced once for all. It is safe for concurrent use.
type Log struct {
	file   *os.File
	out    *bufio.Writer
	queue  chan entry
	ended  chan error
	syncs  atomic.Int64
	failed error // the first error; afterwards nothing is taken for written
}

type entry struct {
	parts [][]byte
	done  chan error
}

// OpenLog makes the file, which must not be there yet. The caller closes the log.
func OpenLog(path string) (*Log, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	l := &Log{file: file, out: bufio.NewWriterSize(file, smallWrites), queue: make(chan entry, queued),
		ended: make(chan error, 1)}
	go l.run()
	return l, nil
}

// Append writes a record, whose parts stand one behind the other, and returns when it is
// on disk.
func (l *Log) Append(parts ...[]byte) error {
	e := entry{parts, make(chan error, 1)}
	l.queue <- e
	return <-e.done
}

// Syncs returns how many fsyncs there were.
func (l *Log) Syncs() int64 { return l.syncs.Load() }

// Close waits for what was appended. Nothing may be appended any more.
func (l *Log) Close() error {
	close(l.queue)
	return <-l.ended
}

func (l *Log) run() {
	var group []entry
	for first := range l.queue {
		group = append(group[:0], first)
		for len(l.queue) > 0 {
			group = append(group, <-l.queue)
		}
		l.commit(group)
		for _, e := range group {
			e.done <- l.failed
		}
	}
	l.ended <- errors.Join(l.failed, l.file.Close())
}

func (l *Log) commit(group []entry) {
	for _, e := range group {
		l.note(l.write(e))
	}
	l.note(l.out.Flush())
	l.note(l.file.Sync())
	l.syncs.Add(1)
}

func (l *Log) note(err error) {
	if l.failed == nil {
		l.failed = err
	}
}

// write appends a record with its length before it, so that the file could be read back.
func (l *Log) write(e entry) error {
	length := 0
	for _, part := range e.parts {
		length += len(part)
	}
	var head [8]byte
	binary.LittleEndian.PutUint64(head[:], uint64(length))
	_, err := l.out.Write(head[:])
	for _, part := range e.parts {
		if err == nil {
			_, err = l.out.Write(part)
		}
	}
	return err
}
