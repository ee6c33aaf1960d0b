package handlers_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/live"
)

// A reader is told of a write, by an ID with which it goes on; the stream ends with the server.
func TestEventsAreToldAndResumed(t *testing.T) {
	deps, store, _ := testDepsWithoutResources(t)
	stopping := make(chan struct{})
	deps.Live, deps.Stopping = live.NewHub(live.Deps{Log: store, Poll: 10 * time.Millisecond}), stopping
	c := newCaller(t, startServer(t, deps), acme, acmeKey)
	other := newCaller(t, startServer(t, deps), globex, globexKey)
	stream := c.open("/api/v1/events")
	defer stream.Body.Close()
	if stream.StatusCode != http.StatusOK || stream.Header.Get("X-Accel-Buffering") != "no" ||
		!strings.HasPrefix(stream.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("%d %v", stream.StatusCode, stream.Header)
	}
	lines := bufio.NewScanner(stream.Body)
	next := func() (id, data string) {
		for lines.Scan() && lines.Text() != "" {
			if rest, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				id = rest
			} else if rest, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				data = rest
			}
		}
		return id, data
	}
	ready, _ := next()
	other.converse([]step{{"POST /api/v1/state/theirs", body(1), 200, ""}})
	c.converse([]step{{"POST /api/v1/state/x", body(1), 200, ""}})
	id, data := next()
	if !strings.Contains(data, `"action":"state.write"`) || !strings.Contains(data, `"name":"x","version":1`) {
		t.Errorf("told %s", data)
	}
	again := c.open("/api/v1/events?after=" + ready)
	defer again.Body.Close()
	lines = bufio.NewScanner(again.Body)
	next()
	if same, said := next(); same != id || said != data {
		t.Errorf("after %s: %s %s, want %s %s", ready, same, said, id, data)
	}
	close(stopping)
	for lines.Scan() {
	}
}
