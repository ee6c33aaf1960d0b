package mysqltest

import (
	"net"
	"strconv"
	"testing"

	"github.com/holdfast/holdfast/storage/serverdb/servertest"
)

// Proxy stands between a client and a server and breaks connections when it is told to.
// Connections through it must not be encrypted.
type Proxy struct {
	Address // the server's, by way of the proxy
	*servertest.Proxy
}

// NewProxy returns a proxy that leads to the server. The caller closes it.
func NewProxy(server Address) (*Proxy, error) {
	proxy, err := servertest.NewProxy(net.JoinHostPort(server.Host, strconv.Itoa(server.Port)))
	if err != nil {
		return nil, err
	}
	server.Host, server.Port = "127.0.0.1", proxy.ListenPort
	return &Proxy{server, proxy}, nil
}

// Proxied returns a database for the test that is reached through a proxy.
func Proxied(t testing.TB) (Database, *Proxy) {
	t.Helper()
	d := New(t)
	proxy, err := NewProxy(d.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	d.Address = proxy.Address
	return d, proxy
}
