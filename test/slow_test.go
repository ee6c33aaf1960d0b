//go:build e2e

package test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// slowPace is how often a slow sender sends a byte: often enough to never count as silent.
const slowPace = 100 * time.Millisecond

// slow opens so many connections, sends on each what is in the file, as raw does, and then
// one more byte now and again, for as long as the server puts up with it. It returns when
// all have begun; hungUp waits for their ends.
func slow(w *world, ts *testscript.TestScript, args []string) error {
	if err := wantArgs(args, 2, 2); err != nil {
		return err
	}
	count, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	text, err := unescaped(os.Expand(ts.ReadFile(args[1]), ts.Getenv))
	if err != nil {
		return err
	}
	w.slow = &slowSenders{}
	for range count {
		conn, err := net.DialTimeout("tcp", w.server.address, answerLimit)
		if err != nil {
			return err
		}
		if _, err := conn.Write([]byte(strings.TrimSuffix(text, "\r\n"))); err != nil {
			return err
		}
		w.slow.Go(func() { w.slow.add(trickle(conn)) })
	}
	return nil
}

// hungUp wants that the server hung up on all slow senders.
func hungUp(w *world, _ *testscript.TestScript, _ []string) error {
	if w.slow == nil {
		return errors.New("nobody is slow")
	}
	w.slow.Wait()
	return errors.Join(w.slow.errs...)
}

type slowSenders struct {
	sync.WaitGroup
	mu   sync.Mutex
	errs []error
}

func (s *slowSenders) add(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = append(s.errs, err)
}

// trickle returns nil when the server has hung up.
func trickle(conn net.Conn) error {
	defer conn.Close()
	ended := make(chan struct{})
	go func() { // reads to the end, whatever is said
		defer close(ended)
		for buffer := make([]byte, 1<<10); ; {
			if _, err := conn.Read(buffer); err != nil {
				return
			}
		}
	}()
	pace := time.NewTicker(slowPace)
	defer pace.Stop()
	patience := time.NewTimer(answerLimit)
	defer patience.Stop()
	for {
		select {
		case <-ended:
			return nil
		case <-pace.C:
			_, _ = conn.Write([]byte("a")) // what fails shows in reading
		case <-patience.C:
			return fmt.Errorf("a slow sender was put up with for %s", answerLimit)
		}
	}
}
