package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/bench/local"
)

// floor is the least that can be done: what is written is made an event, kept in memory, and sent
// to whoever reads. Nobody is asked who he is, nothing is masked, sealed or stored.
type floor struct {
	mu   sync.Mutex
	logs map[string]*memoryLog
}

// memoryLog is a log of events.
type memoryLog struct {
	events [][]byte
	end    int64
	more   chan struct{} // closed when there is another one
}

func startFloor(ctx context.Context, dir string) (*local.Process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	own, err := os.MkdirTemp(dir, "floor")
	if err != nil {
		return nil, err
	}
	return local.Start(ctx, own, nil, program, "-floor")
}

func serveFloor(ctx context.Context, _ options) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: newFloor()}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	slog.New(slog.NewJSONHandler(os.Stderr, nil)).InfoContext(ctx, "listening", "address", listener.Addr().String())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func newFloor() http.Handler {
	f := &floor{logs: map[string]*memoryLog{}}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	routes.HandleFunc("PUT /log/{id}", f.put)
	routes.HandleFunc("GET /log/{id}", f.get)
	return routes
}

func (f *floor) log(r *http.Request) *memoryLog {
	l, ok := f.logs[r.PathValue("id")]
	if !ok {
		l = &memoryLog{more: make(chan struct{})}
		f.logs[r.PathValue("id")] = l
	}
	return l
}

// floorPiece is how large the events are: as the server's.
const floorPiece = 256 << 10

func (f *floor) put(_ http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.log(r)
	for len(text) > 0 {
		n := min(len(text), floorPiece)
		data, _ := json.Marshal(api.LogBytes{Attempt: 1, Offset: l.end, Bytes: text[:n]})
		l.end += int64(n)
		l.events, text = append(l.events, fmt.Appendf(nil, "event: log\nid: 1:%d\ndata: %s\n\n", l.end, data)), text[n:]
	}
	close(l.more)
	l.more = make(chan struct{})
}

func (f *floor) get(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for sent := 0; ; {
		f.mu.Lock()
		l := f.log(r)
		events, more := l.events[sent:], l.more
		f.mu.Unlock()
		for _, event := range events {
			if _, err := w.Write(event); err != nil {
				return
			}
		}
		sent += len(events)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-more:
		case <-r.Context().Done():
			return
		}
	}
}

// target is a floor that goes on.
type target struct {
	url  string
	used func() (local.Usage, error)
	logs *int
}

func (t target) newLog(context.Context) (source, error) {
	*t.logs++
	return floorLog(fmt.Sprintf("%s/log/%d", t.url, *t.logs)), nil
}

func (t target) usage() (local.Usage, error) { return t.used() }

// floorLog is the address of a log.
type floorLog string

func (l floorLog) write(ctx context.Context, text []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, string(l), bytes.NewReader(text))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

func (l floorLog) stream(ctx context.Context) (*http.Request, error) {
	return http.NewRequestWithContext(ctx, http.MethodGet, string(l), nil)
}
