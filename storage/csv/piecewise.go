package csv

import (
	"context"
	"io"
	"os"
)

// readFile is what reading needs of a file.
type readFile interface {
	io.ReaderAt
	io.Closer
}

func openRead(path string) (readFile, error) { return os.Open(path) }

// piecewise reads an organization's file. It has a turn, and has the file open, for one
// call at a time: whoever reads a large file from end to end keeps nobody waiting for
// longer than a piece takes. That all pieces are of one file, its caller finds out by the
// file's stamp.
type piecewise struct {
	ctx  context.Context
	t    *tenant
	base int64 // index.Head's; 0 reads the file as it is
}

// ReadAt implements io.ReaderAt, by the offsets of the index.
func (p piecewise) ReadAt(b []byte, offset int64) (n int, err error) {
	release, err := p.t.store.reads.Acquire(p.ctx, p.t.org)
	if err != nil {
		return 0, err
	}
	defer release()
	f, err := p.t.store.openRead(p.t.path)
	if err != nil {
		return 0, fileError(err)
	}
	defer func() { _ = f.Close() }()
	if n, err = f.ReadAt(b, offset-p.base); err != nil && err != io.EOF {
		err = fileError(err)
	}
	return n, err
}

// whole reads the file from its beginning to its end.
func (p piecewise) whole() io.Reader { return io.NewSectionReader(p, p.base, 1<<62) }
