package runlog

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"
)

// pieceBytes is the size of the largest piece that is sent at once.
const pieceBytes = 1 << 20

// The waits between two tries.
const (
	firstWait   = 250 * time.Millisecond
	longestWait = 15 * time.Second
)

// Append writes a piece at an offset of the log on the server, and returns where that ends.
type Append func(ctx context.Context, offset int64, piece []byte) (end int64, err error)

// Verdict is what a refusal of a piece means.
type Verdict int

// The verdicts.
const (
	Again     Verdict = iota // the same piece, after a while
	Elsewhere                // go on from where the log ends
	Never                    // nothing more is accepted
)

// Sender brings a log to the server.
type Sender struct {
	Log    *Log
	Append Append
	Judge  func(error) Verdict
	// Pause waits; it returns the context's error when that ends before.
	Pause func(context.Context, time.Duration) error

	sent atomic.Int64
}

// Sent returns how far the server has the log.
func (s *Sender) Sent() int64 { return s.sent.Load() }

// Run sends what comes until the log has ended and the server has all of it, which is when it
// returns nil, or until the context ends or the server wants no more.
func (s *Sender) Run(ctx context.Context) error {
	buffer := make([]byte, 0, 64<<10)
	wait := firstWait
	for {
		size, ended, changed := s.Log.State()
		at := s.Sent()
		if at >= size {
			if ended {
				return nil
			}
			select {
			case <-changed:
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		length := int(min(size-at, pieceBytes))
		if cap(buffer) < length {
			buffer = make([]byte, length)
		}
		piece := buffer[:length]
		if _, err := s.Log.ReadAt(piece, at); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		end, err := s.Append(ctx, at, piece)
		moved, err := s.judge(at, end, err)
		if err != nil {
			return err
		}
		if moved {
			wait = firstWait
			continue
		}
		if err := s.Pause(ctx, wait); err != nil {
			return err
		}
		wait = min(2*wait, longestWait)
	}
}

// judge notes what the server has, and reports whether to go on at once.
func (s *Sender) judge(at, end int64, err error) (moved bool, _ error) {
	if err == nil {
		s.sent.Store(max(end, at)) // another call of ours may have brought more already
		return end > at, nil
	}
	switch s.Judge(err) {
	case Elsewhere:
		s.sent.Store(end)
		return end != at, nil
	case Never:
		return false, err
	}
	return false, nil
}
