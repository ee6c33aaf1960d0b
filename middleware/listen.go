package middleware

import (
	"context"
	"crypto/tls"
	"net"
)

// Listen returns a listener whose connections are counted, within the limits. The server's
// ConnState must be Track, and its ConnContext the package's.
func (cs *Connections) Listen(l net.Listener) net.Listener { return listener{l, cs} }

type listener struct {
	net.Listener
	connections *Connections
}

func (l listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		own, leaves := l.connections.admit(raw)
		if leaves != nil {
			_ = leaves.conn.Close() // whoever serves it sees that
		}
		if own != nil {
			return seated{raw, own}, nil
		}
		_ = raw.Close()
	}
}

// seated is a connection that gives its seat back when its descriptor is.
type seated struct {
	net.Conn
	seat *seat
}

// Close implements net.Conn.
func (c seated) Close() error {
	err := c.Conn.Close()
	c.seat.leave()
	return err
}

// CloseWrite has the client see the end while it may still send: net/http looks for it.
func (c seated) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// seatKey is what a connection's seat is under in the context of its requests.
type seatKey struct{}

// ConnContext is for http.Server.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if s := seatOfConn(c); s != nil {
		return context.WithValue(ctx, seatKey{}, s)
	}
	return ctx
}

// seatOf returns nil where nobody counts connections.
func seatOf(ctx context.Context) *seat {
	s, _ := ctx.Value(seatKey{}).(*seat)
	return s
}

// seatOfConn returns nil for a connection that nobody counts. With TLS, handlers are served
// on another one than was accepted.
func seatOfConn(c net.Conn) *seat {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	if own, ok := c.(seated); ok {
		return own.seat
	}
	return nil
}
