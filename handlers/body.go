package handlers

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/holdfast/holdfast/fault"
)

// readAhead is how much is set aside on the word of a Content-Length alone; what is
// longer grows as it arrives.
const readAhead = 1 << 20

// readBody reads the whole body, at most limit bytes, and checks its Content-MD5 when it
// has one. Faults: BodyTooLarge, BodyUnreadable, DigestMismatch.
func readBody(c *gin.Context, limit int64) ([]byte, error) {
	if c.Request.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	var buf bytes.Buffer
	if known := c.Request.ContentLength; known > 0 {
		// One byte more than the body: ReadFrom then sees its end without growing.
		buf.Grow(int(min(known, readAhead)) + bytes.MinRead)
	}
	body := steady{http.NewResponseController(c.Writer), http.MaxBytesReader(c.Writer, c.Request.Body, limit)}
	defer body.done()
	_, err := buf.ReadFrom(body)
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, tooLarge(limit)
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.BodyUnreadable, "the connection broke off before the whole body arrived; nothing was stored")
	}
	return buf.Bytes(), checkMD5(c.GetHeader("Content-MD5"), buf.Bytes())
}

// maxSilence is how long a sender may pause within a body.
const maxSilence = 30 * time.Second

// steady reads a body for as long as it makes progress: a large state on a slow line
// arrives, a silent connection doesn't stay.
type steady struct {
	control *http.ResponseController
	from    io.Reader
}

func (s steady) Read(p []byte) (int, error) {
	// A writer without deadlines, as in tests, reads without them.
	_ = s.control.SetReadDeadline(time.Now().Add(maxSilence))
	return s.from.Read(p)
}

func (s steady) done() { _ = s.control.SetReadDeadline(time.Time{}) }

func tooLarge(limit int64) error {
	return fault.New(fault.BodyTooLarge, "the body is larger than the limit of %d bytes; nothing was stored", limit)
}

// checkMD5 guards against damage on the way (RFC 1864), not against attackers.
func checkMD5(header string, body []byte) error {
	if header == "" {
		return nil
	}
	want, err := base64.StdEncoding.DecodeString(header)
	if err != nil || len(want) != md5.Size {
		return fault.New(fault.DigestMismatch, "the Content-MD5 header is not the base64 of an MD5 digest; nothing was stored")
	}
	if got := md5.Sum(body); !bytes.Equal(got[:], want) {
		return fault.New(fault.DigestMismatch, "the body does not match its Content-MD5: it was damaged on the way; nothing was stored")
	}
	return nil
}
