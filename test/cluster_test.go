//go:build e2e

package test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/storage/serverdb/servertest"
)

// cluster are nodes that share a database, each through a proxy of its own. The database's
// server is the test's, so that it may be killed.
type cluster struct {
	t        *testing.T
	dir      string // of auth.cfg, which all follow
	org      *tenant
	nodes    []*node
	database *databaseServer
}

// node is a process, and its way to the database; nil for a node that has none.
type node struct {
	*server
	proxy *servertest.Proxy
}

// newCluster starts so many nodes, which limit nobody.
func newCluster(t *testing.T, on databaseKind, count int, environ ...string) *cluster {
	t.Helper()
	dir := t.TempDir()
	c := &cluster{t: t, dir: dir, database: ownServer(t, on)}
	c.org = addTenants(t, dir+"/auth.cfg", 1)[0]
	(&neighbours{t: t, dir: dir}).addSettings(c.org, "state_rate_limit = off", "rate_limit = off")
	for i := range count {
		proxy, err := servertest.NewProxy(c.database.address(t))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = proxy.Close() })
		c.add(&node{proxy: proxy}, dir, fmt.Sprintf("%s/node%d", dir, i),
			slices.Concat(environ, on.engines(), c.database.by(t, proxy.ListenPort).environ()))
	}
	return c
}

// oneNode starts a node that keeps everything itself.
func oneNode(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t}
	dir := t.TempDir()
	c.org = addTenants(t, dir+"/auth.cfg", 1)[0]
	(&neighbours{t: t, dir: dir}).addSettings(c.org, "state_rate_limit = off", "rate_limit = off")
	c.add(&node{}, dir, dir+"/node0", nil)
	return c
}

func (c *cluster) add(n *node, dir, own string, environ []string) {
	c.t.Helper()
	if err := os.Mkdir(own, 0o700); err != nil {
		c.t.Fatal(err)
	}
	n.server = newServer(own,
		tenantsEnviron(own, append(environ, "HOLDFAST_AUTH_FILE="+dir+"/auth.cfg", "HOLDFAST_SEAL_MASTER_KEY_FILE="+dir+
			"/master.key")...))
	c.nodes = append(c.nodes, n)
	c.t.Cleanup(func() {
		if err := n.end(); err != nil {
			c.t.Error(err)
		}
		if c.t.Failed() {
			c.t.Logf("%s ended with:\n%s", own, n.logTail(5))
		}
	})
	if err := n.start(); err != nil {
		c.t.Fatal(err)
	}
}

// clients returns one of each node, with connections of its own, so that a node that is stopped
// holds up nobody else's.
func (c *cluster) clients() (all []*client.Client) {
	for _, n := range c.nodes {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost = 64
		c.t.Cleanup(transport.CloseIdleConnections)
		all = append(all, client.New(client.Options{Address: n.url, Org: c.org.id, Key: c.org.key,
			HTTP: &http.Client{Transport: transport}}))
	}
	return all
}

// kill ends a node as a crash does, and starts it again at the same address.
func (n *node) kill() error {
	_, port, err := net.SplitHostPort(n.address)
	if err != nil {
		return err
	}
	_ = n.process.end(syscall.SIGKILL) // being killed is no exit code 0
	n.process = nil
	n.environ = append(n.environ, "PORT="+port)
	return n.start()
}

// pause stops a node for so long.
func (n *node) pause(ctx context.Context, d time.Duration) error {
	process := n.process.cmd.Process
	if err := process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	wait(ctx, d)
	return process.Signal(syscall.SIGCONT)
}

// away has a node without its database for so long.
func (n *node) away(ctx context.Context, d time.Duration) error {
	n.proxy.Break()
	wait(ctx, d)
	n.proxy.Mend()
	return nil
}

// delayed has a node's database answer so much later.
func (n *node) delayed(ctx context.Context, d time.Duration) error {
	n.proxy.Delay(d / 20)
	wait(ctx, d)
	n.proxy.Delay(0)
	return nil
}

// crash kills the database's server and starts it again.
func (c *cluster) crash(ctx context.Context, d time.Duration) error {
	err := c.database.Kill()
	wait(ctx, d)
	return errors.Join(err, c.database.Run(context.WithoutCancel(ctx)))
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// during does one thing after another, as next says, until the work has ended.
func during(t *testing.T, work func(), next func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var nemesis sync.WaitGroup
	nemesis.Go(func() {
		for ctx.Err() == nil {
			if err := next(ctx); err != nil {
				t.Error(err)
				return
			}
		}
	})
	work()
	cancel()
	nemesis.Wait()
}
