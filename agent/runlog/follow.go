package runlog

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/holdfast/holdfast/internal/pause"
)

// lookEvery is how often a file is asked whether it has grown.
const lookEvery = 40 * time.Millisecond

// Follow copies a file that somebody else appends to, from its beginning, until ended is closed
// and its end is reached.
func Follow(ctx context.Context, path string, ended <-chan struct{}, to io.Writer) error {
	file, err := await(ctx, path, ended)
	if file == nil || err != nil {
		return err
	}
	defer file.Close()
	buffer := make([]byte, 64<<10)
	for {
		over := isClosed(ended) // asked first: what was written before it ended is read then
		n, err := file.Read(buffer)
		if err != nil && err != io.EOF {
			return err
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return err
		}
		if n > 0 {
			continue
		}
		if over {
			return nil
		}
		if err := pause.Until(ctx, lookEvery, ended); err != nil {
			return err
		}
	}
}

// await opens the file once it is there; nil if it never came.
func await(ctx context.Context, path string, ended <-chan struct{}) (*os.File, error) {
	for {
		over := isClosed(ended)
		file, err := os.Open(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
		if over {
			return nil, nil
		}
		if err := pause.Until(ctx, lookEvery, ended); err != nil {
			return nil, err
		}
	}
}

// Steady is a writer to a log that waits while the log can't be written, as when the disk is
// full, until the context ends.
type Steady struct {
	Context context.Context
	Log     *Log
}

// Write implements io.Writer.
func (s Steady) Write(p []byte) (int, error) {
	for written := 0; ; {
		n, err := s.Log.Write(p[written:])
		written += n
		if err == nil || errors.Is(err, os.ErrClosed) {
			return written, err
		}
		if err := pause.For(s.Context, time.Second); err != nil {
			return written, err
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
