package main

import (
	"bytes"
	"io"

	"github.com/holdfast/holdfast/client"
)

// noticeable is how many bytes take long enough for somebody to wonder.
const noticeable = 8 << 20

// fetch writes exact bytes to a file of mode 0600, which is there whole or not at all, or to
// stdout. It shows how far it has come, if there are many.
func (a *app) fetch(content *client.Content, file string) error {
	write := func(to io.Writer) error {
		if content.Size >= 0 && content.Size < noticeable || content.Size < 0 && !isTerminal(a.stderr) {
			_, err := io.Copy(to, content)
			return err
		}
		p := a.startTransfer("Fetching", max(content.Size, 0))
		defer p.end()
		_, err := io.Copy(io.MultiWriter(to, p), content)
		return err
	}
	if file == "" {
		return write(a.stdout)
	}
	return writeFile(file, write)
}

// sending returns a body that shows how far it has come, if it is long. end must follow.
func (a *app) sending(content []byte) (body io.Reader, end func()) {
	if len(content) < noticeable {
		return bytes.NewReader(content), func() {}
	}
	p := a.startTransfer("Sending", int64(len(content)))
	return shownBody{bytes.NewReader(content), p}, p.end
}

// shownBody is a body that begins anew with each try.
type shownBody struct {
	*bytes.Reader
	progress *progress
}

// ReadAt implements io.ReaderAt.
func (b shownBody) ReadAt(p []byte, offset int64) (int, error) {
	n, err := b.Reader.ReadAt(p, offset)
	b.progress.count.Store(offset + int64(n))
	return n, err
}
