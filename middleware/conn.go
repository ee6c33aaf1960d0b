package middleware

import (
	"context"
	"errors"
	"net"
	"os"
	"time"
)

// heldBytes is how much a connection keeps back: what net/http gathers before it writes.
const heldBytes = 4 << 10

// Listen returns a listener whose connections cost less to serve than net's. With
// ConnContext as the server's, an answer's header leaves together with the beginning of its
// body, in one call and to a client that wakes up once: of a read of 10 KB that is 5 µs.
// Without TLS only: with it, the connection that handlers are served on is another one.
func Listen(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	raw, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return newConn(raw, time.Now), nil
}

func newConn(raw net.Conn, now func() time.Time) *conn {
	return &conn{Conn: raw, reads: deadline{set: raw.SetReadDeadline, now: now}, writes: deadline{set: raw.SetWriteDeadline, now: now}}
}

type connKey struct{}

// ConnContext is for http.Server.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if own, ok := c.(*conn); ok {
		return context.WithValue(ctx, connKey{}, own)
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
	reads, writes deadline

	// Of the goroutine that serves the connection.
	holding bool
	held    []byte // goes out with the next write
	pair    [2][]byte
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
	return c.writeBoth(p)
}

// writeBoth writes what is held, and then p. When its deadline passes, it goes on if
// stretch, who is told how much went out since, has moved it.
func (c *conn) writeBoth(p []byte) (int, error) {
	c.pair = [2][]byte{c.held, p}
	both, total := net.Buffers(c.pair[:]), int64(-len(c.held))
	for {
		n, err := both.WriteTo(c.Conn)
		total += n
		if !errors.Is(err, os.ErrDeadlineExceeded) || c.stretch == nil || !c.stretch(int(n)) {
			c.held, c.pair = c.held[:0], [2][]byte{}
			return int(max(total, 0)), err
		}
	}
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
