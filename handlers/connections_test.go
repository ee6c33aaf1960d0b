package handlers_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/netip"
	"testing"

	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/middleware"
)

// startBounded serves with bounded connections, as `holdfast serve` does.
func startBounded(t *testing.T, limits middleware.ConnectionLimits, secure bool) *httptest.Server {
	t.Helper()
	deps := testDeps(t)
	deps.Connections = middleware.NewConnections(limits)
	router, err := handlers.NewRouter(deps)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(router)
	server.Listener = deps.Connections.Listen(server.Listener)
	server.Config.ConnContext, server.Config.ConnState = middleware.ConnContext, deps.Connections.Track
	if server.EnableHTTP2 = secure; secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server
}

// stays asks, and reports whether that went over the connection that there was.
func (c caller) stays(path string) bool {
	c.t.Helper()
	r, err := http.NewRequest("GET", c.url+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	r.SetBasicAuth(c.user, c.key)
	reused := false
	r = r.WithContext(httptrace.WithClientTrace(c.t.Context(),
		&httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { reused = info.Reused }}))
	if got := c.send(r); got.status != http.StatusNotFound {
		c.t.Fatalf("%d %s", got.status, got.body)
	}
	return reused
}

// Vulnerability: connections that ask for nothing, and need no key, use up all that there
// may be.
// Check: who has a key keeps its connection, whoever comes; and newcomers get in. The same
// holds with TLS and HTTP/2, where handlers see another connection than was accepted.
func TestIdleStrangersKeepNobodyOut(t *testing.T) {
	for name, secure := range map[string]bool{"without TLS": false, "with TLS": true} {
		t.Run(name, func(t *testing.T) {
			server := startBounded(t, middleware.ConnectionLimits{Total: 6}, secure)
			owner := newCaller(t, server, acme, acmeKey)
			owner.stays("/api/v1/state/x")
			for range 30 {
				conn, err := net.Dial("tcp", server.Listener.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				if !owner.stays("/api/v1/state/x") {
					t.Fatal("the owner's connection went for a stranger's")
				}
			}
			late := newCaller(t, server, globex, globexKey)
			late.client.Transport = late.client.Transport.(*http.Transport).Clone()
			if late.stays("/api/v1/state/x") || !late.stays("/api/v1/state/x") || !owner.stays("/api/v1/state/x") {
				t.Error("a newcomer with a key doesn't get in for good")
			}
			metrics := owner.do("GET /metrics", "").body
			has(t, metrics, `holdfast_connections\{who="known"\} 2`)
			has(t, metrics, `holdfast_connections\{who="stranger"\} 4`)
			has(t, metrics, `holdfast_connections_closed_total\{reason="total"\} [1-9][0-9]*`)
		})
	}
}

// A trusted proxy's connections are nobody's in particular.
func TestProxyConnectionsAreKnown(t *testing.T) {
	server := startBounded(t,
		middleware.ConnectionLimits{Total: 4, PerAddress: 1, Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
		false)
	for range 3 {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	has(t, newCaller(t, server, acme, acmeKey).do("GET /metrics", "").body, `holdfast_connections\{who="known"\} 4`)
}
