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
	"sync/atomic"
	"time"

	"github.com/google/uuid"
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

// forceLocks makes notices: each of its locks is forced open.
func forceLocks(ctx context.Context, n *neighbours) {
	repeatedly(ctx, 10, func(caller int) {
		path := fmt.Sprint("/api/v1/state/noise-", caller)
		n.shout("LOCK", path, fmt.Sprintf(`{"ID":%q,"Who":"ada@engine"}`, uuid.NewString()))
		n.shout("UNLOCK", path, "")
	})
}

// noticeArrives wants a notice of the quiet organization's to be told soon.
func noticeArrives(ctx context.Context, n *neighbours) error {
	const path = "/api/v1/state/forced"
	var all answers
	all.ask(n.quiet, "LOCK", path, fmt.Sprintf(`{"ID":%q,"Who":"ada@engine"}`, uuid.NewString()))
	all.ask(n.quiet, "UNLOCK", path, "")
	if all.status[http.StatusOK] != 2 {
		return fmt.Errorf("a lock that is forced open: %s", &all)
	}
	select {
	case <-n.told:
		return nil
	case <-time.After(answerLimit):
		return fmt.Errorf("no notice within %s", answerLimit)
	}
}

// fill writes what does not compress, to ever more states.
func fill(ctx context.Context, n *neighbours) {
	var number atomic.Int64
	repeatedly(ctx, 4, func(int) {
		i := int(number.Add(1))
		n.shout("POST", fmt.Sprint("/api/v1/state/noise-", i), uniqueState(1<<20, i))
	})
}

// keepConnections opens so many connections with a good key and keeps them; those that are
// closed it opens anew.
func keepConnections(count int) worst {
	return func(ctx context.Context, n *neighbours) {
		credentials := base64.StdEncoding.EncodeToString([]byte(n.noisy.id.String() + ":" + n.noisy.key))
		repeatedly(ctx, count, func(int) {
			conn, err := net.Dial("tcp", n.server.address)
			if err != nil {
				pause(ctx, refusedWait)
				return
			}
			defer conn.Close()
			defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
			fmt.Fprintf(conn, "GET /api/v1/whoami HTTP/1.1\r\nHost: holdfast\r\nAuthorization: Basic %s\r\n\r\n", credentials)
			_, _ = io.Copy(io.Discard, conn) // until it is closed
			pause(ctx, refusedWait)
		})
	}
}
