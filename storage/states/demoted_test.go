package states

import (
	"io"
	"net"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/mysql/mysqltest"
)

// address is one behind which another server can be put, as a proxy or a name does. Connections that are
// there stay.
type address struct {
	listener net.Listener
	leads    atomic.Pointer[string]
}

func newAddress(t *testing.T) *address {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	a := &address{listener: listener}
	go a.serve()
	return a
}

func (a *address) leadTo(host string, port int) {
	to := net.JoinHostPort(host, strconv.Itoa(port))
	a.leads.Store(&to)
}

func (a *address) serve() {
	for {
		client, err := a.listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer client.Close()
			server, err := net.Dial("tcp", *a.leads.Load())
			if err != nil {
				return
			}
			defer server.Close()
			go func() {
				_, _ = io.Copy(client, server)
				_ = client.Close()
			}()
			_, _ = io.Copy(server, client)
		}()
	}
}

// TestFailoverLeavesTheOldServerThere has a failover make the old server read-only and lead new connections
// to the new one, without ending the old ones: nothing is read from the old one any more.
func TestFailoverLeavesTheOldServerThere(t *testing.T) {
	suite.Deep(t)
	old, o := mysqltest.Private(t)
	promoted, p := mysqltest.Private(t)
	for _, s := range []*mysqltest.Server{old, promoted} {
		if err := s.Exec(t.Context(), "", "CREATE DATABASE IF NOT EXISTS holdfast_test",
			"CREATE USER app@'%' IDENTIFIED BY 'app'", "GRANT ALL ON holdfast_test.* TO app@'%'"); err != nil {
			t.Fatal(err)
		}
	}
	o.User, o.Password, p.User, p.Password = "app", "app", "app", "app"
	ref, born := newRef("kept"), newRef("born")
	for _, at := range []mysqltest.Database{o, p} { // as replication has it
		put(t, open(t, mysqlOptions(at)), ref, []byte(`"one"`))
	}
	through := newAddress(t)
	through.leadTo(o.Host, o.Port)
	options := mysqlOptions(o)
	options.MySQL.Host, options.MySQL.Port = "127.0.0.1", through.listener.Addr().(*net.TCPAddr).Port
	s, listing, searching := open(t, options), open(t, options), open(t, options)
	for _, s := range []*Store{s, s, s, s, listing, searching} { // sessions that stay open
		if _, err := s.Current(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
	}
	if err := old.Exec(t.Context(), "", "SET GLOBAL read_only = 1"); err != nil {
		t.Fatal(err)
	}
	through.leadTo(p.Host, p.Port)
	head := put(t, s, ref, []byte(`"two"`))
	put(t, s, born, []byte(`"new"`))
	for range 4 {
		got, err := s.Current(t.Context(), ref)
		if err != nil || got.Number != head.Version.Number {
			t.Errorf("Current: version %d, %v, after version %d was acknowledged", got.Number, err, head.Version.Number)
		}
		tips, err := s.Newest(t.Context(), []state.Ref{ref, born})
		if err != nil || tips[0].Number != head.Version.Number || tips[1].Number != 1 {
			t.Errorf("Newest: %v, %v", tips, err)
		}
		found, err := s.Head(t.Context(), born)
		if err != nil || found.Version.Number != 1 {
			t.Errorf("Head: %+v, %v", found, err)
		}
	}
	versions, err := listing.Versions(t.Context(), ref, 0, 10)
	if err != nil || len(versions) != int(head.Version.Number) {
		t.Errorf("Versions: %d, %v", len(versions), err)
	}
	page, err := searching.States(t.Context(), born.Org, state.StatesQuery{Limit: 10})
	if err != nil || len(page.States) != 1 {
		t.Errorf("States: %+v, %v", page, err)
	}
}
