package middleware

import (
	"bufio"
	"crypto/md5"
	"errors"
	"hash"
	"io"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/klauspost/compress/gzip"

	"github.com/holdfast/holdfast/fault"
)

const contentEncoding = "Content-Encoding"

// readDecoded reads as read does, but without the body's Content-Encoding, which the request
// doesn't have any more then. One that is not known is refused with a fault.MediaUnsupported.
func readDecoded(c *gin.Context, read ReadBody, limit int64) ([]byte, error) {
	if err := checkEncoding(c.Request.Header); err != nil {
		return nil, err
	}
	if !isGzip(c.GetHeader(contentEncoding)) {
		return read(c, limit)
	}
	c.Request.Header.Del(contentEncoding)
	return readGunzipped(c, read, limit)
}

func checkEncoding(header http.Header) error {
	encodings := header.Values(contentEncoding)
	if len(encodings) > 1 || len(encodings) == 1 && encodings[0] != "" && !strings.EqualFold(encodings[0], "identity") &&
		!isGzip(encodings[0]) {
		return fault.New(fault.MediaUnsupported,
			"the body has a Content-Encoding other than gzip; send it as it is, or in gzip")
	}
	return nil
}

func isGzip(encoding string) bool { return strings.EqualFold(encoding, "gzip") }

// readGunzipped reads as read does, but what the body expands to: at most limit bytes, of
// at most limit bytes that were sent.
func readGunzipped(c *gin.Context, read ReadBody, limit int64) ([]byte, error) {
	body := newGunzipped(http.MaxBytesReader(c.Writer, c.Request.Body, limit))
	if c.GetHeader(contentMD5) != "" {
		body.sent.md5 = md5.New()
	}
	c.Request.Body = body
	if c.Request.ContentLength <= limit {
		c.Request.ContentLength = -1 // it tells nothing of how much the body expands to
	}
	content, err := read(c, limit)
	if body.damage != nil {
		return nil, body.damage
	}
	return content, err
}

// gunzipped is what a gzip body expands to, piece by piece: every member of it, each with
// its checksum, and nothing behind the last one.
type gunzipped struct {
	io.Closer
	sent   sent
	ahead  *bufio.Reader
	gzip   gzip.Reader
	begun  bool
	damage error // a fault.GzipDamaged, once it was seen
}

func newGunzipped(body io.ReadCloser) *gunzipped {
	g := &gunzipped{Closer: body, sent: sent{from: body}}
	g.ahead = bufio.NewReader(&g.sent)
	return g
}

// Read's error is that of the connection if that has one, else a fault.GzipDamaged.
func (g *gunzipped) Read(p []byte) (int, error) {
	if g.damage != nil {
		return 0, g.damage
	}
	n, err := g.expand(p)
	switch {
	case err == nil || err == io.EOF:
		return n, err
	case g.sent.err != nil:
		return n, g.sent.err
	}
	g.damage = fault.Wrap(err, fault.GzipDamaged,
		"the body is not whole gzip, as its Content-Encoding says; nothing was stored")
	return n, g.damage
}

// expand passes over members that expand to nothing.
func (g *gunzipped) expand(p []byte) (n int, err error) {
	if !g.begun {
		g.begun = true
		err = g.member()
	}
	for n == 0 && len(p) > 0 && err == nil {
		if n, err = g.gzip.Read(p); err == io.EOF {
			err = g.next()
		}
	}
	return n, err
}

// next returns io.EOF when nothing follows the member that has ended.
func (g *gunzipped) next() error {
	if _, err := g.ahead.Peek(1); err != nil {
		return err
	}
	return g.member()
}

// member begins the next one. The library would do so itself, but it takes a header that
// ends within its file name for the end of everything.
func (g *gunzipped) member() error {
	err := g.gzip.Reset(g.ahead)
	g.gzip.Multistream(false)
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// sent keeps the connection's own error, which decoders mix up with a body that is cut off,
// and the digest of what came.
type sent struct {
	from io.Reader
	err  error
	md5  hash.Hash // nil where nobody asks for it
}

func (s *sent) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	if s.md5 != nil {
		s.md5.Write(p[:n])
	}
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}
