package middleware

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// pair returns the two ends of a connection, the first one of Listen.
func pair(t *testing.T) (*conn, net.Conn) {
	t.Helper()
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	far, err := net.Dial("tcp", raw.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	near, err := Listen(raw).Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	return connOf(ConnContext(context.Background(), near)), far
}

func TestConnKeepsOrder(t *testing.T) {
	first, second, large := []byte("first "), []byte("second "), bytes.Repeat([]byte("large "), heldBytes)
	for name, test := range map[string]struct {
		write func(*conn) error
		want  []byte
		held  int // before release
	}{
		"one":          {func(c *conn) error { return writeAll(c, first) }, first, len(first)},
		"two":          {func(c *conn) error { return writeAll(c, first, second) }, concat(first, second), 0},
		"three":        {func(c *conn) error { return writeAll(c, first, second, first) }, concat(first, second, first), len(first)},
		"too much":     {func(c *conn) error { return writeAll(c, large) }, large, 0},
		"small, large": {func(c *conn) error { return writeAll(c, first, large) }, concat(first, large), 0},
		"none":         {func(*conn) error { return nil }, nil, 0},
	} {
		near, far := pair(t)
		near.hold()
		if err := test.write(near); err != nil || len(near.held) != test.held {
			t.Fatalf("%s: %v, %d bytes are held, want %d", name, err, len(near.held), test.held)
		}
		if err := near.release(); err != nil {
			t.Fatal(err)
		}
		if err := near.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(far)
		if err != nil || !bytes.Equal(got, test.want) {
			t.Errorf("%s: %d bytes, %v; want %d", name, len(got), err, len(test.want))
		}
	}
}

func concat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func writeAll(c *conn, parts ...[]byte) error {
	for _, part := range parts {
		if n, err := c.Write(part); err != nil || n != len(part) {
			return errors.Join(err, io.ErrShortWrite)
		}
	}
	return nil
}

// A deadline holds for a call that has begun, and for the next one; none is inherited.
func TestConnDeadlines(t *testing.T) {
	near, far := pair(t)
	var ended = make(chan error)
	go func() { _, err := near.Read(make([]byte, 1)); ended <- err }()
	_ = near.SetReadDeadline(time.Now().Add(-time.Hour)) // before or during the read
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a read that has begun: %v", err)
	}
	if _, err := near.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the next one: %v", err)
	}
	_ = near.SetReadDeadline(time.Time{})
	if _, err := far.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if n, err := near.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("without a deadline: %d bytes, %v", n, err)
	}
	_ = near.SetDeadline(time.Now().Add(-time.Hour))
	if _, err := near.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a write: %v", err)
	}
}

// moves are the deadlines that were set for good.
type moves []time.Time

func (m *moves) set(t time.Time) error { *m = append(*m, t); return nil }

func TestDeadlineMovesWhenItMust(t *testing.T) {
	now := time.Now()
	at := func(seconds float64) time.Time { return now.Add(time.Duration(seconds * float64(time.Second))) }
	for name, test := range map[string]struct {
		want  []time.Time // by the calls, in turn
		moved int
	}{
		"never":                     {[]time.Time{{}, {}}, 0},
		"the same":                  {[]time.Time{at(100), at(100)}, 1},
		"later by a little":         {[]time.Time{at(100), at(105)}, 1},
		"later by a good part":      {[]time.Time{at(100), at(130)}, 2},
		"earlier":                   {[]time.Time{at(100), at(99.9)}, 2},
		"taken away":                {[]time.Time{at(100), {}}, 2},
		"by little steps":           {[]time.Time{at(100), at(105), at(110), at(120)}, 2},
		"what stands has passed":    {[]time.Time{at(-1), at(0.01)}, 2},
		"what is wanted has passed": {[]time.Time{at(100), at(-100)}, 2},
	} {
		var made moves
		d := deadline{set: made.set, now: time.Now}
		for _, want := range test.want {
			_ = d.move(time.Now().Add(time.Hour)) // nothing happens under it
			_ = d.move(want)
			if err := d.begin(); err != nil {
				t.Fatal(err)
			}
			d.end()
		}
		if len(made) != test.moved {
			t.Errorf("%s: moved %d times, want %d", name, len(made), test.moved)
		}
	}
}

func TestDeadlineMovesAtOnceDuringACall(t *testing.T) {
	var made moves
	d := deadline{set: made.set, now: time.Now}
	_ = d.begin()
	_ = d.begin()
	d.end()
	_ = d.move(time.Unix(1, 0))
	d.end()
	_ = d.move(time.Unix(2, 0))
	if len(made) != 1 || !made[0].Equal(time.Unix(1, 0)) {
		t.Errorf("moved to %v", made)
	}
}
