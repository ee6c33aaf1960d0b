//go:build e2e

package test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/suite"
)

// TestRunWhoseLogIsRefused has a proxy refuse every piece of a log from when the apply has begun.
// The apply goes on and stores its state; the log comes, whole, when it is taken again.
func TestRunWhoseLogIsRefused(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	outage := brief(18*time.Second, time.Minute) // longer than the lease
	b := newRunBench(t, shortLease)
	far := b.pool()
	at, err := url.Parse(b.server.url)
	b.must(err)
	var refuses atomic.Bool
	var refused atomic.Int64
	forward := httputil.NewSingleHostReverseProxy(at)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuses.Load() && r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/log/") {
			refused.Add(1)
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	b.agentOf("a1", proxy.URL)
	b.workspace("refused", untilReleased(3), far)
	run := b.order("refused", "apply")
	b.begun(run)
	refuses.Store(true)
	b.release()
	over := time.After(outage)
	b.must(poll(func() error {
		_, err := b.client.FindState(b.Context(), run.Workspace)
		return err
	}))
	<-over
	if now := b.until(run.ID, "applying", func(api.Run) bool { return true }); now.Status != "applying" ||
		refused.Load() == 0 {
		t.Errorf("while its log is refused, %d times so far, the run is %s", refused.Load(), now.Status)
	}
	refuses.Store(false)
	b.exact(b.ended(run.ID), 3)
	b.clean()
}
