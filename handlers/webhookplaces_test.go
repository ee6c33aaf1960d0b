package handlers_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/repos"
)

// TestSlowSenderHoldsUpNoOther: who knows a repository's ID and sends deliveries that never arrive, however many, keeps
// none waiting that comes from elsewhere.
func TestSlowSenderHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	h := newHooked(t, repos.Limits{})
	h.git.Repo(t, "infra").Commit("Begin")
	var slow sync.WaitGroup
	defer slow.Wait() // all of them have ended by then
	for range 20 {
		body, end := io.Pipe()
		slow.Go(func() { h.sendFrom("192.0.2.66:1234", "push", "", body) })
		defer func() { _ = end.Close() }()
	}
	time.Sleep(100 * time.Millisecond)
	answered := make(chan int, 1)
	go func() {
		body := `{"ref":"refs/heads/main","after":"` + strings.Repeat("1", 40) + `","sender":{"id":1,"login":"bob"}}`
		answered <- h.sendFrom("198.51.100.7:1234", "push", body, strings.NewReader(body))
	}()
	select {
	case status := <-answered:
		if status != http.StatusAccepted {
			t.Errorf("the delivery was answered %d", status)
		}
	case <-time.After(10 * time.Second):
		t.Error("the delivery waits for those that never arrive")
	}
}
