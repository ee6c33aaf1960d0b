package bench

import (
	"bufio"
	"context"
	"crypto/md5"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// answerBuffer is how much of an answer is read at once.
const answerBuffer = 64 << 10

// request is one that can be written as it is.
type request struct {
	method, path string
	headers      string // whole lines, beside those that every request has
	body         []byte
}

// conn is one connection for one identity. It is dialled when it is needed, and given up
// after any error that leaves it in doubt. It is not safe for concurrent use.
type conn struct {
	place   place
	usual   string // header lines of every request
	timeout time.Duration
	digests bool     // send Content-MD5
	raw     net.Conn // nil when there is none
	in      *bufio.Reader
	limited func() // told that little is left of the organization's limit; may be nil
	head    []byte
	buffer  []byte
}

func newConn(p place, id *Identity, o Options) *conn {
	c := &conn{place: p, timeout: o.Timeout, digests: o.MD5, in: bufio.NewReaderSize(nil, answerBuffer),
		buffer: make([]byte, answerBuffer)}
	c.usual = " HTTP/1.1\r\nHost: " + net.JoinHostPort(p.host, p.port) + "\r\nUser-Agent: holdfast-bench\r\n"
	if id != nil {
		c.usual += "Authorization: " + id.authorization() + "\r\n"
	}
	return c
}

// do sends a request and hands its answer to check, which reads the body. The status is
// check's matter too.
func (c *conn) do(ctx context.Context, r request, check func(*http.Response) error) error {
	if err := c.send(ctx, r); err != nil {
		return c.broken(err)
	}
	answer, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return c.broken(err)
	}
	defer answer.Body.Close()
	if c.limited != nil && answer.Header.Get("RateLimit-Remaining") != "" { // there is none while much is left
		c.limited()
	}
	if err := check(answer); err != nil {
		// The rest tells nothing more, but the next answer stands behind it.
		if _, dropped := io.CopyBuffer(io.Discard, answer.Body, c.buffer); dropped != nil {
			return c.broken(err)
		}
		return err
	}
	if answer.Close {
		c.close()
	}
	return nil
}

func (c *conn) send(ctx context.Context, r request) error {
	if c.raw == nil {
		raw, err := c.place.dial(ctx)
		if err != nil {
			return err
		}
		c.raw = raw
		c.in.Reset(raw)
	}
	if err := c.raw.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		return err
	}
	c.head = append(c.head[:0], r.method...)
	c.head = append(append(append(c.head, ' '), c.place.path...), r.path...)
	c.head = append(append(c.head, c.usual...), r.headers...)
	if r.body != nil {
		c.head = append(c.head, "Content-Type: application/json\r\nContent-Length: "...)
		c.head = append(strconv.AppendInt(c.head, int64(len(r.body)), 10), "\r\n"...)
		c.digest(r.body)
	}
	c.head = append(c.head, "\r\n"...)
	_, err := (&net.Buffers{c.head, r.body}).WriteTo(c.raw)
	return err
}

func (c *conn) digest(body []byte) {
	if !c.digests {
		return
	}
	sum := md5.Sum(body)
	c.head = append(c.head, "Content-MD5: "...)
	c.head = append(base64.StdEncoding.AppendEncode(c.head, sum[:]), "\r\n"...)
}

// broken gives the connection up. Errors that an answer explains stay as they are.
func (c *conn) broken(err error) error {
	c.close()
	if _, ok := errors.AsType[*Failure](err); ok {
		return err
	}
	return &Failure{Kind: "connection", Detail: err.Error()}
}

func (c *conn) close() {
	if c.raw != nil {
		_ = c.raw.Close() // whatever it has to say comes too late
		c.raw = nil
	}
}
