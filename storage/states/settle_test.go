package states

import (
	"bytes"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/holdfast/holdfast/fault"
)

// losing is a way to the database that loses the packet with a COMMIT before it arrives, and then the
// answer to what finds out what became of it.
type losing struct {
	target string
	phase  atomic.Int32
}

const (
	losesNothing int32 = iota
	losesCommit
	losesAnswer
	hasLostBoth
)

func (l *losing) serve(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		go l.forward(client)
	}
}

func (l *losing) forward(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", l.target)
	if err != nil {
		return
	}
	defer server.Close()
	var mute atomic.Bool
	go func() {
		defer client.Close()
		answer := make([]byte, 64<<10)
		for {
			n, err := server.Read(answer)
			if err != nil || mute.Load() {
				return
			}
			if _, err := client.Write(answer[:n]); err != nil {
				return
			}
		}
	}()
	packet := make([]byte, 64<<10)
	for {
		n, err := client.Read(packet)
		if err != nil {
			return
		}
		switch {
		case bytes.Contains(packet[:n], []byte(";COMMIT")) && l.phase.CompareAndSwap(losesCommit, losesAnswer):
			return
		case bytes.Contains(packet[:n], []byte("state_outcomes")) && l.phase.CompareAndSwap(losesAnswer, hasLostBoth):
			mute.Store(true)
		}
		if _, err := io.Copy(server, bytes.NewReader(packet[:n])); err != nil {
			return
		}
	}
}

// TestLostTwice: a change never reached the database, and what was asked about it did, without an
// answer. The token that is there then is no sign that the change happened: it is made anew.
func TestLostTwice(t *testing.T) { onEach(t, testLostTwice) }

func testLostTwice(t *testing.T, on kind) {
	d := on.new(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	l := &losing{target: d.address()}
	go l.serve(listener)
	s, ref := opened(t, d.by(listener.Addr().String()).options()), newRef("lost")
	l.phase.Store(losesCommit)
	body := []byte(`{"serial":1}`)
	head, err := s.Update(t.Context(), ref, body, write(body))
	if l.phase.Load() != hasLostBoth {
		t.Fatalf("only phase %d was reached: %v", l.phase.Load(), err)
	}
	got, found := s.Current(t.Context(), ref)
	switch {
	case err == nil && (head.Version.Number != 1 || found != nil || !bytes.Equal(got.Body, body)):
		t.Errorf("version %d was acknowledged, and there is %q, %v", head.Version.Number, got.Body, found)
	case err != nil && !fault.Is(found, fault.StateNotFound):
		t.Errorf("it was refused, %v, and there is %q, %v", err, got.Body, found)
	}
	if err == nil {
		wantVersions(t, s, ref, body)
	}
}
