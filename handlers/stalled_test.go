package handlers_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// A stranger who announces a body and never sends it is answered all the same, and can't
// keep the connection, which would hold up a stop.
func TestStrangerWithoutPromisedBody(t *testing.T) {
	for _, expect := range []string{"", "Expect: 100-continue\r\n"} {
		server := startServer(t, testDeps(t))
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(time.Minute)) // far beyond what it takes
		fmt.Fprintf(conn, "POST /api/v1/state/x HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n%s\r\n", expect)
		reader := bufio.NewReader(conn)
		response, err := http.ReadResponse(reader, nil)
		if err != nil || response.StatusCode != http.StatusUnauthorized {
			t.Fatalf("%q: %v, %v; want 401", expect, response, err)
		}
		if _, err := io.Copy(io.Discard, reader); err != nil {
			t.Errorf("%q: %v; want the connection closed", expect, err)
		}
	}
}
