package handlers_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/holdfast/holdfast/auth"
)

// Scenario: a key that may not write announces a large state and sends nothing of it.
// Check: it is refused all the same, so that no such body takes up room that others need.
func TestWhoMayNotWriteIsRefusedBeforeTheBody(t *testing.T) {
	t.Parallel() // it waits
	patterns, err := auth.ParsePatterns("prod/*")
	if err != nil {
		t.Fatal(err)
	}
	deps := testDeps(t)
	deps.Verifier = keys{
		{Org: acme, Key: "reader"}: {Org: acme, KeyID: "r", Grant: auth.Grant{Role: auth.Reader}},
		{Org: acme, Key: "prod"}:   {Org: acme, KeyID: "p", Grant: auth.Grant{Role: auth.Writer, States: patterns}},
	}
	server := startServer(t, deps)
	for _, c := range []struct {
		key, request string
		status       int
	}{
		{"reader", "PUT /api/v1/state/prod%2Fa", 403},
		{"reader", "POST /api/v1/state/prod%2Fa?ID=x&unlock=true", 403},
		{"reader", "POST /terraform/state/prod/a", 403},
		{"prod", "PUT /api/v1/state/dev", 403},
		{"prod", "PUT /terraform/state/dev/a", 403},
		{"prod", "PUT /api/v1/state/a%00", 400},
	} {
		connection, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		credentials := base64.StdEncoding.EncodeToString([]byte(acme.String() + ":" + c.key))
		fmt.Fprintf(connection, "%s HTTP/1.1\r\nHost: x\r\nAuthorization: Basic %s\r\nContent-Length: 100000\r\n\r\n",
			c.request, credentials)
		_ = connection.SetReadDeadline(time.Now().Add(5 * time.Second))
		answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
		if err != nil || answer.StatusCode != c.status {
			t.Errorf("%s as %s: %+v, %v; want %d", c.request, c.key, answer, err, c.status)
		}
	}
}
