package gitmirror

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"
)

// blobs is a git process that answers with the content of each hash that it is asked for.
type blobs struct {
	c      *command
	cancel context.CancelFunc
	in     io.WriteCloser
	out    *bufio.Reader
}

// openBlobs starts one. It lives until it is closed, whatever the context of who asks first.
func (m *Mirror) openBlobs() (*blobs, error) {
	ctx, cancel := context.WithCancel(context.Background())
	b := &blobs{c: m.git(ctx, nil, "cat-file", "--batch"), cancel: cancel}
	in, err := b.c.StdinPipe()
	if err == nil {
		b.in = in
		var out io.ReadCloser
		if out, err = b.c.StdoutPipe(); err == nil {
			b.out = bufio.NewReaderSize(out, 64<<10)
			err = b.c.start(m.o.Limits)
		}
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return b, nil
}

// read asks for an entry's content and has it read. After an error nothing more can be asked.
func (b *blobs) read(ctx context.Context, e Entry, read func(io.Reader) error) error {
	ctx, done := context.WithTimeout(ctx, b.c.m.o.Limits.Read)
	defer done()
	stop := context.AfterFunc(ctx, b.cancel)
	defer stop()
	err := b.ask(e, read)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (b *blobs) ask(e Entry, read func(io.Reader) error) error {
	if _, err := io.WriteString(b.in, e.Blob+"\n"); err != nil {
		return err
	}
	line, err := b.out.ReadString('\n')
	if err != nil {
		return unexpected(err)
	}
	words := strings.Fields(line)
	if len(words) != 3 || words[1] != "blob" {
		return newError(Failed, "git cat-file has said %.80q", line)
	}
	size, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil || size != e.Size {
		return newError(Failed, "%.200q has another size than the tree says", e.Path)
	}
	if err := read(io.LimitReader(b.out, size)); err != nil {
		return err
	}
	if end, err := b.out.ReadByte(); err != nil || end != '\n' {
		return newError(Failed, "%.200q was not read whole", e.Path)
	}
	return nil
}

func (b *blobs) close() {
	_ = b.in.Close()
	b.cancel()
	_ = b.c.Wait()
}
