package main

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/internal/runworld"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

// cutter hands connections on to a server, and cuts off its first streams in the middle, each a
// little later than the one before.
type cutter struct {
	server string
	cuts   atomic.Int64
}

// lettingThrough is how many bytes more each stream has than the one before.
const lettingThrough = 900

func (c *cutter) serve(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go c.handOn(conn)
	}
}

func (c *cutter) handOn(conn net.Conn) {
	defer conn.Close()
	server, err := net.Dial("tcp", c.server)
	if err != nil {
		return
	}
	defer server.Close()
	go func() { _, _ = io.Copy(server, conn) }()
	first := make([]byte, 12)
	if _, err := io.ReadFull(server, first); err != nil {
		return
	}
	_, _ = conn.Write(first)
	if !bytes.Equal(first, []byte("HTTP/1.1 101")) || c.cuts.Load() == 4 {
		_, _ = io.Copy(conn, server)
		return
	}
	_, _ = io.CopyN(conn, server, c.cuts.Add(1)*lettingThrough)
}

// A server's own stream, cut off again and again, is shown as one: no line is missing, none is there
// twice, and there is one run.
func TestInfraOverABadConnection(t *testing.T) {
	s := newShell(t)
	world, store, log, key := runworld.New(t), memory.New(1<<20), slog.New(slog.DiscardHandler), auth.NewKey(acme)
	router, err := handlers.NewRouter(handlers.Deps{
		States:    state.NewService(store, state.DefaultPolicies{}, time.Now, log),
		Inventory: inventory.NewService(inventory.Off{}), Workspaces: s.workspaces(store),
		Runs: world.Service, Verifier: oneKey{key}, Log: log, Now: time.Now, MaxStateBytes: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	server := s.asking(router, key)
	s.must("workspace", "create", "prod/network")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	c := &cutter{server: server.Listener.Addr().String()}
	go c.serve(listener)
	s.setenv("HOLDFAST_ADDR", "http://"+listener.Addr().String())

	const lines = 400 // more than the streams that are cut off have in all, however few messages they come in
	var want strings.Builder
	executes(t, world, func(e *runworld.Executor) {
		for i := range lines {
			e.Log(fmt.Sprintf("line %d of the log, which is not short\n", i))
		}
		e.Plan(2)
	})
	for i := range lines {
		fmt.Fprintf(&want, "line %d of the log, which is not short\n", i)
	}
	folder := folderOf(t, map[string]string{"main.tf": "# nothing\n"})
	code, out, errs := s.run("infra", "plan", "--project-id", "prod/network", "--dir", folder)
	if code != exitOK || !strings.Contains(out, "Running plan...\n"+want.String()+"\nChanges: +2 added") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	if c.cuts.Load() != 4 {
		t.Errorf("it was cut off %d times", c.cuts.Load())
	}
	if _, list, _ := s.run("run", "list", "--json"); strings.Count(list, "\n") != 1 {
		t.Errorf("there are other runs:\n%s", list)
	}
}
