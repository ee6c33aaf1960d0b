package middleware

import (
	"crypto/md5"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/spans"
)

const contentMD5 = "Content-MD5"

const (
	// firstBytes of a body are always taken: a connection costs as much by itself, and an
	// UNLOCK has its lock's ID there.
	firstBytes = 4 << 10
	// growth is how many times larger a body's buffer gets at a time. With a length that is
	// known it gets no larger than that in the end, so it may take larger steps; and these
	// end there, so that the last buffer that is let go of is a quarter of the body.
	growth, knownGrowth = 2, 4
)

// Body returns the body that Admit has read; nil without one.
func Body(c *gin.Context) []byte { return admissionOf(c).body }

// PeekBody is for a Claim: it reads the body before Admit does, who then has the same.
func PeekBody(c *gin.Context, limit int64) ([]byte, error) { return admissionOf(c).readBody(c, limit) }

// readBody reads the whole body, of at most limit bytes, takes away its Content-Encoding, and
// checks its Content-MD5 when it has one. A second call returns the same. Faults:
// BodyTooLarge, BodyTooSlow, BodyUnreadable, DigestMismatch, MediaUnsupported, GzipDamaged,
// Overloaded.
func (a *admission) readBody(c *gin.Context, limit int64) ([]byte, error) {
	if !a.read {
		a.read = true
		_, end := spans.Start(c.Request.Context(), "read body")
		a.body, a.bodyErr = readDecoded(c, a.receive, limit)
		end(a.bodyErr)
	}
	return a.body, a.bodyErr
}

func (a *admission) receive(c *gin.Context, limit int64) ([]byte, error) {
	length := c.Request.ContentLength
	if length > limit {
		return nil, tooLarge(limit)
	}
	// Who says that it sends more than there is room for learns that before it sends it.
	if length > firstBytes && !a.fits(c, length) {
		return nil, a.guard.bytes.Refuse()
	}
	from := &pacedReader{
		from:     http.MaxBytesReader(c.Writer, c.Request.Body, limit),
		control:  http.NewResponseController(c.Writer),
		now:      a.guard.now,
		progress: progress{pace: a.guard.pace},
	}
	body, err := a.fill(c, from, planFor(length, limit))
	if err != nil {
		return nil, a.explain(err, limit)
	}
	_ = from.control.SetReadDeadline(time.Time{})
	return body, checkDigest(c, body)
}

// fits spends nothing on the word of a Content-Length.
func (a *admission) fits(c *gin.Context, n int64) bool {
	bytes, shares := a.guard.bytes, a.shares()
	return bytes.Fits(shares[0], n) || a.isHolder(c) && bytes.Fits(shares[1], n)
}

// growthPlan is how a body's buffer grows: by what factor, up to how many bytes.
type growthPlan struct {
	factor, most int64
	known        bool // most is what there will be, not what there may be
}

// after returns the size that follows another.
func (r growthPlan) after(size int64) int64 {
	larger := max(r.most, size+1)
	if !r.known {
		return min(r.factor*size, larger)
	}
	for larger > r.factor*size {
		larger = (larger + r.factor - 1) / r.factor
	}
	return larger
}

// planFor takes a length of -1 for one that is not known. There is one byte more than the
// body, to see its end without growing.
func planFor(length, limit int64) growthPlan {
	if length < 0 {
		return growthPlan{growth, limit + 1, false}
	}
	return growthPlan{knownGrowth, length + 1, true}
}

// fill reads to the end.
func (a *admission) fill(c *gin.Context, from io.Reader, r growthPlan) ([]byte, error) {
	size := min(r.most, firstBytes)
	a.guard.bytes.Force(a.shares()[0], size)
	a.bytes[0] += size
	body := make([]byte, 0, size)
	for {
		n, err := from.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if err == io.EOF {
			return body, nil
		}
		if err == nil && len(body) == cap(body) {
			body, err = a.grow(c, body, r)
		}
		if err != nil {
			return nil, err
		}
	}
}

// grow moves a body to a larger buffer. Until it has moved there are both, and both count.
func (a *admission) grow(c *gin.Context, body []byte, r growthPlan) ([]byte, error) {
	had, before := a.bytes, int64(cap(body))
	size := r.after(before)
	if !a.acquire(c, a.guard.bytes, &a.bytes, size, Bytes) {
		return nil, a.guard.bytes.Refuse()
	}
	larger := append(make([]byte, 0, size), body...)
	a.releaseBytes(had)
	return larger, nil
}

// releaseBytes gives back a part of what was taken.
func (a *admission) releaseBytes(part [2]int64) {
	for i, s := range a.shares() {
		a.guard.bytes.Release(s, part[i])
		a.bytes[i] -= part[i]
	}
}

func (a *admission) explain(err error, limit int64) error {
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return tooLarge(limit)
	}
	if _, known := errors.AsType[*fault.Error](err); known {
		return err
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return a.refuse(Slowness,
			fault.Wrap(err, fault.BodyTooSlow, "the body arrived too slowly, or not at all; nothing was stored"))
	}
	return fault.Wrap(err, fault.BodyUnreadable,
		"the connection broke off before the whole body arrived; nothing was stored")
}

func tooLarge(limit int64) error {
	return fault.New(fault.BodyTooLarge, "the body is larger than the limit of %d bytes; nothing was stored", limit)
}

// checkDigest checks the Content-MD5 of a body. In gzip it is that of the bytes which were
// sent (RFC 9110, 8.4; RFC 1864), but clients that take it of what these expand to are
// understood too: either tells what was damaged on the way.
func checkDigest(c *gin.Context, body []byte) error {
	header := c.GetHeader(contentMD5)
	if packed, ok := c.Request.Body.(*gunzipped); ok && packed.sent.md5 != nil &&
		checkSum(header, [md5.Size]byte(packed.sent.md5.Sum(nil))) == nil {
		return nil
	}
	return checkMD5(header, body)
}

// checkMD5 guards against damage on the way (RFC 1864), not against attackers.
func checkMD5(header string, body []byte) error {
	if header == "" {
		return nil
	}
	return checkSum(header, md5.Sum(body))
}

func checkSum(header string, got [md5.Size]byte) error {
	want, err := base64.StdEncoding.DecodeString(header)
	if err != nil || len(want) != md5.Size {
		return fault.New(fault.DigestMismatch,
			"the Content-MD5 header is not the base64 of an MD5 digest; nothing was stored")
	}
	if got != [md5.Size]byte(want) {
		return fault.New(fault.DigestMismatch,
			"the body does not match its Content-MD5: it was damaged on the way; nothing was stored")
	}
	return nil
}
