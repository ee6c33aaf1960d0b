package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/pause"
	"github.com/holdfast/holdfast/server"
)

// checkLive says what a live move needs.
func (f movingFlags) checkLive(settings configs.Settings) error {
	switch {
	case !f.live && f.then == "":
		return nil
	case !f.live:
		return usagef("--then goes with --live")
	case f.from != configs.SQLite:
		return usagef("--live goes --from sqlite: nodes that share a database are stopped before it is moved")
	case f.then == "":
		return usagef("--live needs --then with the address of a server that serves the target")
	case server.HoldsUploads(settings) && !f.noUploads:
		return usagef("uploads in files don't move while they are served: use storage.type = dual before, which fills the "+
			"database (see `holdfast data migrate --help`), then %s; or leave them by --without-uploads", f.to)
	}
	return nil
}

// carryLive moves what a server goes on to serve: most of it is copied, and its bytes are compared, while
// it does. For the rest requests wait, and go to the other server in the end.
func (r *relocation) carryLive(cmd *cobra.Command) error {
	ctx := cmd.Context()
	if left, err := r.move.Left(ctx); err != nil || left { // handed over by a command that came no further
		return errors.Join(err, r.copy(ctx, false), r.verify(ctx, true))
	}
	running := runningServer(ctx, server.OperatorSocket(r.settings))
	if running == nil {
		return fmt.Errorf("no server runs on the folder %s; without --live it is moved as it is", r.settings.Storage.Path)
	}
	for _, read := range []bool{false, true} {
		if err := r.copy(ctx, read); err != nil {
			return err
		}
	}
	if err := r.awaitThen(ctx); err != nil {
		return err
	}
	held, release, err := running.hold(ctx, r.flags.then)
	if err != nil {
		return err
	}
	defer release()
	if err := r.copy(held, false); err != nil {
		return errors.Join(context.Cause(held), err)
	}
	if err := r.verify(held, false); err != nil {
		return errors.Join(context.Cause(held), err)
	}
	return running.post(ctx, server.OperatorHandOver+"?place="+url.QueryEscape(r.move.Target()))
}

// awaitThen waits until a server listens at the address where requests are to go: it answers them when
// the move has ended.
func (r *relocation) awaitThen(ctx context.Context) error {
	to, err := url.Parse(r.flags.then)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return usagef("--then: %.100q is no address of a server, as http://node-1.example.com:7777 is", r.flags.then)
	}
	at := to.Host
	if to.Port() == "" {
		at = net.JoinHostPort(to.Hostname(), map[string]string{"http": "80", "https": "443"}[to.Scheme])
	}
	for told := false; ; told = true {
		conn, err := (&net.Dialer{Timeout: dialPatience}).DialContext(ctx, "tcp", at)
		if err == nil {
			return conn.Close()
		}
		if !told {
			fmt.Fprintf(r.a.stderr, "Most of it is there. Start the server at %s now, with state.storage = %s.\n", to.Redacted(),
				r.flags.to)
		}
		if err := pause.For(ctx, dialAgain); err != nil {
			return err
		}
	}
}

const (
	dialPatience = 5 * time.Second
	dialAgain    = 500 * time.Millisecond
)

// errGoesOn is of a server that no longer has requests wait.
var errGoesOn = errors.New("the server goes on by itself; run the same command again")

// hold has the server's requests wait until release is called, and go to an address if they were handed
// over by then. The context ends when the server goes on by itself.
func (s *runningStore) hold(ctx context.Context, to string) (_ context.Context, release func(), err error) {
	return s.holdBy(ctx, server.OperatorHold+"?to="+url.QueryEscape(to))
}

// holdBy does what hold does by another path.
func (s *runningStore) holdBy(ctx context.Context, path string) (_ context.Context, release func(), err error) {
	held, cancel := context.WithCancelCause(ctx)
	answer, err := s.send(held, path)
	if err != nil {
		cancel(nil)
		return nil, nil, err
	}
	lines := bufio.NewReader(answer)
	if line, err := lines.ReadString('\n'); err != nil || strings.TrimSpace(line) != server.Held {
		cancel(nil)
		return nil, nil, errors.Join(errGoesOn, err, answer.Close())
	}
	go func() {
		_, _ = lines.ReadByte() // nothing more comes but the end
		cancel(errGoesOn)
	}()
	return held, func() {
		cancel(nil)
		_ = answer.Close()
	}, nil
}

// send posts to the server that runs, and returns its answer, which the caller closes.
func (s *runningStore) send(ctx context.Context, path string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://holdfast"+path, nil)
	if err != nil {
		return nil, err
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking the server that runs here: %w", err)
	}
	if answer.StatusCode == http.StatusOK {
		return answer.Body, nil
	}
	defer answer.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
	return nil, fmt.Errorf("the server that runs here answers %s: %s", answer.Status, strings.TrimSpace(string(said)))
}

func (s *runningStore) post(ctx context.Context, path string) error {
	answer, err := s.send(ctx, path)
	if err != nil {
		return err
	}
	return answer.Close()
}
