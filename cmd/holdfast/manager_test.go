//go:build unix

package main

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A service manager hears when the server can be asked, and when it stops.
func TestServiceManagerIsTold(t *testing.T) {
	dir, err := os.MkdirTemp("", "notify") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "socket")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	told := func() string {
		text := make([]byte, 100)
		_ = socket.SetReadDeadline(time.Now().Add(patience))
		n, err := socket.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		return string(text[:n])
	}
	s := newLoneShell(t)
	s.must("init")
	r := s.start()
	if got := told(); got != "READY=1" {
		t.Errorf("at the start it is told %q", got)
	}
	r.stop()
	if got := told(); got != "STOPPING=1" {
		t.Errorf("at the end it is told %q", got)
	}
	if code := r.wait(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}
