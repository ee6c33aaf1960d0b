package shim

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// Output reads a stream of a command while it is written, and after.
type Output struct {
	process *Process
	stream  Stream
	offset  int64
	file    *os.File // nil while there is none
}

// pollEvery is how often a stream is looked at that has nothing new.
const pollEvery = 25 * time.Millisecond

// Output returns a reader of the stream from this byte on. A shim that was killed may have
// left a stream that grows no more and has no end; who waits for the command with Wait has it
// adopted, so that it goes on.
func (p *Process) Output(stream Stream, offset int64) *Output {
	return &Output{process: p, stream: stream, offset: offset}
}

// Offset is how many bytes of the stream lie before what is read next.
func (o *Output) Offset() int64 { return o.offset }

// Read reads what there is, at once: nothing with a nil error means that more may come. It
// returns io.EOF when there will be none.
func (o *Output) Read(p []byte) (int, error) {
	if n, err := o.read(p); n > 0 || err != nil || len(p) == 0 {
		return n, err
	}
	over, err := o.process.over()
	if err != nil || !over {
		return 0, err
	}
	n, err := o.read(p) // what was written between the two looks
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

func (o *Output) read(p []byte) (n int, err error) {
	if o.file == nil {
		o.file, err = os.Open(o.process.folder.path(string(o.stream)))
		if errors.Is(err, fs.ErrNotExist) {
			o.file = nil
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
	}
	n, err = o.file.ReadAt(p, o.offset)
	o.offset += int64(n)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// Next waits until there is something to read, and reads it; or until there will be nothing
// more, which is io.EOF.
func (o *Output) Next(ctx context.Context, p []byte) (int, error) {
	for {
		n, err := o.Read(p)
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(pollEvery):
		}
	}
}

// Close releases the file.
func (o *Output) Close() error {
	if o.file == nil {
		return nil
	}
	return o.file.Close()
}

// over says whether a command writes no more: it has ended, or is gone without a word.
func (p *Process) over() (bool, error) {
	status, err := p.Status()
	return err == nil && status.Condition != Running && status.Condition != Orphaned, err
}
