//go:build e2e

package test

import (
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// limitFiles bounds how many files the server may have open, from its next start on.
func limitFiles(w *world, _ *testscript.TestScript, args []string) error {
	if err := wantArgs(args, 1, 1); err != nil {
		return err
	}
	w.server.ulimit = []string{"-n", args[0]}
	return nil
}

// idle opens so many connections from so many addresses, and leaves them alone: every
// second one after an answer. The server may close them whenever it likes; they stay until
// the script ends.
func idle(w *world, _ *testscript.TestScript, args []string) error {
	if err := wantArgs(args, 2, 2); err != nil {
		return err
	}
	count, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	addresses, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	for i := range count {
		dialer := net.Dialer{Timeout: answerLimit, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 77, 0, byte(1+i%addresses))}}
		conn, err := dialer.Dial("tcp", w.server.address)
		if err != nil {
			return err
		}
		w.idle = append(w.idle, conn)
		if i/addresses%2 == 0 {
			continue
		}
		_ = conn.SetDeadline(time.Now().Add(answerLimit))
		fmt.Fprintf(conn, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
		_, _ = io.ReadAtLeast(conn, make([]byte, 1<<10), 1)
	}
	return nil
}
