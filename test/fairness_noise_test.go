//go:build e2e

package test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// worst is something that the noisy organization does until ctx ends.
type worst = func(context.Context, *neighbours)

// again asks for the same over so many connections at once, and reads each answer.
func again(connections int, method, path, body string) worst {
	return func(ctx context.Context, n *neighbours) {
		repeatedly(ctx, connections, func(int) { n.shout(method, path, body) })
	}
}

// refusedWait is how long it waits after a request that was refused. It stays within its
// limits: what a flood beyond them does is the matter of TestNoisyNeighbour.
const refusedWait = 500 * time.Millisecond

// shout sends one request of the noisy organization's, and takes its answer.
func (n *neighbours) shout(method, path, body string) {
	answer, err := n.noisy.send(method, path, []byte(body))
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	if answer.StatusCode == http.StatusServiceUnavailable || answer.StatusCode == http.StatusTooManyRequests {
		time.Sleep(refusedWait)
	}
}

// takeSlowly asks for the same over so many connections at once, and takes nothing of the
// answers but their beginnings.
func takeSlowly(connections int, path string) worst {
	return func(ctx context.Context, n *neighbours) {
		repeatedly(ctx, connections, func(int) {
			conn, err := net.Dial("tcp", n.server.address)
			if err != nil {
				return
			}
			defer conn.Close()
			_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
			credentials := base64.StdEncoding.EncodeToString([]byte(n.noisy.id.String() + ":" + n.noisy.key))
			fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: holdfast\r\nAuthorization: Basic %s\r\n\r\n", path, credentials)
			begin := make([]byte, 12)
			if _, err := io.ReadFull(conn, begin); err != nil || string(begin) != "HTTP/1.1 200" {
				pause(ctx, refusedWait)
				return
			}
			<-ctx.Done()
		})
	}
}

// repeatedly has so many do the same again and again until ctx ends.
func repeatedly(ctx context.Context, callers int, do func(caller int)) {
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			for ctx.Err() == nil {
				do(caller)
			}
		})
	}
	all.Wait()
}
