package middleware

import (
	"sync"
	"time"
)

// slack is which part of the time that is left a deadline may come too early.
const slack = 8

// deadline is one of a connection's two. A server moves both several times for a request,
// mostly to take them away again before anything was read or written. Here they are moved
// when something is, and then only if they are off by a good part. That saves 1 µs of a
// read, and as many timers.
type deadline struct {
	set func(time.Time) error // moves it for good
	now func() time.Time

	mu           sync.Mutex
	calls        int // under way, for which it stands
	want, stands time.Time
}

// move says when it shall be; the zero time is never.
func (d *deadline) move(to time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.want = to
	if d.calls > 0 {
		return d.settle()
	}
	return nil
}

// begin makes it hold for a call. If there is no error, end must follow.
func (d *deadline) begin() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.settle(); err != nil {
		return err
	}
	d.calls++
	return nil
}

func (d *deadline) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls--
}

func (d *deadline) settle() error {
	if d.nearEnough() {
		return nil
	}
	err := d.set(d.want)
	if err == nil {
		d.stands = d.want
	}
	return err
}

func (d *deadline) nearEnough() bool {
	if d.want.Equal(d.stands) {
		return true
	}
	if d.want.IsZero() || d.stands.IsZero() {
		return false
	}
	early := d.want.Sub(d.stands)
	return early >= 0 && early <= d.want.Sub(d.now())/slack
}

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	if err := c.reads.move(t); err != nil {
		return err
	}
	return c.writes.move(t)
}

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error { return c.reads.move(t) }

// SetWriteDeadline implements net.Conn.
func (c *conn) SetWriteDeadline(t time.Time) error { return c.writes.move(t) }
