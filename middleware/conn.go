package middleware

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"time"
)

// interim is how what comes before an answer begins, such as 100 Continue.
const interim = "HTTP/1.1 1"

// heldBytes is how much a connection keeps back: what net/http gathers before it writes.
const heldBytes = 4 << 10

// Listen returns a listener whose connections cost less to serve than net's. With
// ConnContext as the server's, an answer's header leaves together with the beginning of its
// body, in one call and to a client that wakes up once: of a read of 10 KB that is 5 µs.
// Without TLS only: with it, the connection that handlers are served on is another one.
func Listen(l net.Listener) net.Listener { return listener{l, nil} }

type listener struct {
	net.Listener
	connections *Connections // nil for any number
}

func (l listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		own := newConn(raw, time.Now)
		if l.connections == nil {
			return own, nil
		}
		var leaves *seat
		if own.seat, leaves = l.connections.admit(raw); leaves != nil {
			_ = leaves.conn.Close() // whoever serves it sees that
		}
		if own.seat != nil {
			return own, nil
		}
		_ = raw.Close()
	}
}

func newConn(raw net.Conn, now func() time.Time) *conn {
	return &conn{Conn: raw, reads: deadline{set: raw.SetReadDeadline, now: now}, writes: deadline{set: raw.SetWriteDeadline, now: now}}
}

// connKey and seatKey are what a connection is under in its context: itself, or with TLS
// only its seat.
type (
	connKey struct{}
	seatKey struct{}
)

// ConnContext is for http.Server.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if own, ok := c.(*conn); ok {
		return context.WithValue(ctx, connKey{}, own)
	}
	if s := seatOfConn(c); s != nil {
		return context.WithValue(ctx, seatKey{}, s)
	}
	return ctx
}

// connOf returns nil for a connection that is not of Listen.
func connOf(ctx context.Context) *conn {
	own, _ := ctx.Value(connKey{}).(*conn)
	return own
}

// conn hides what net's has beside net.Conn and CloseWrite: whoever copied to it directly
// would get ahead of what is held.
type conn struct {
	net.Conn
	seat          *seat // nil for one that nobody counts
	reads, writes deadline

	// Of the goroutine that serves the connection.
	holding bool
	held    []byte // goes out with the next write
	lines   []byte // go out with the next answer's header
	pieces  [4][]byte
	stretch func(n int) bool // may be nil
}

// hold keeps the next write back until there is another one, or release. Both must be
// called by whoever writes.
func (c *conn) hold() { c.holding = true }

func (c *conn) release() error {
	c.holding = false
	if len(c.held) == 0 {
		return nil
	}
	_, err := c.Write(nil)
	return err
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	if c.holding && len(c.held) == 0 && len(p) <= heldBytes {
		c.held = append(c.held, p...)
		return len(p), nil
	}
	if err := c.writes.begin(); err != nil {
		return 0, err
	}
	defer c.writes.end()
	return c.writeAll(p)
}

// writeAll writes what is held, and then p. When its deadline passes, it goes on if stretch,
// who is told how much went out since, has moved it.
func (c *conn) writeAll(p []byte) (int, error) {
	lines := c.gather(p)
	all, total := net.Buffers(c.pieces[:]), int64(-len(c.held)-lines)
	for {
		n, err := all.WriteTo(c.Conn)
		total += n
		if !errors.Is(err, os.ErrDeadlineExceeded) || c.stretch == nil || !c.stretch(int(n)) {
			c.held, c.pieces = c.held[:0], [4][]byte{}
			return int(max(total, 0)), err
		}
	}
}

// gather puts together what goes out, and returns how many bytes of lines are in it. The
// first that net/http writes of an answer has all of its status line.
func (c *conn) gather(p []byte) (lines int) {
	head, rest := c.held, p
	if len(head) == 0 {
		head, rest = p, nil
	}
	if len(c.lines) == 0 || bytes.HasPrefix(head, []byte(interim)) {
		c.pieces = [4][]byte{head, rest}
		return 0
	}
	status := bytes.IndexByte(head, '\n') + 1
	c.pieces = [4][]byte{head[:status], c.lines, head[status:], rest}
	lines, c.lines = len(c.lines), c.lines[:0] // what is in pieces stays as it is until the next request
	return lines
}

// Close implements net.Conn. The seat is free when the descriptor is.
func (c *conn) Close() error {
	err := c.Conn.Close()
	if c.seat != nil {
		c.seat.leave()
	}
	return err
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	if err := c.reads.begin(); err != nil {
		return 0, err
	}
	defer c.reads.end()
	return c.Conn.Read(p)
}

// CloseWrite has the client see the end while it may still send: net/http looks for it.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
