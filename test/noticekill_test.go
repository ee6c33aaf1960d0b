//go:build e2e

package test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
)

// receiver is an address of notices that is away at times.
type receiver struct {
	mu    sync.Mutex
	down  bool
	calls int
	took  map[uint64]map[string]int // how often each ID came, by the version that it is about
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, got *http.Request) {
	body, _ := io.ReadAll(got.Body)
	var n struct {
		ID, Action string
		Version    uint64
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	switch {
	case r.down:
		w.WriteHeader(http.StatusBadGateway)
	case json.Unmarshal(body, &n) != nil, n.ID != got.Header.Get("Webhook-Id"),
		!strings.HasPrefix(got.Header.Get("Webhook-Signature"), "v1,"),
		got.Header.Get("X-Token") != "s3cret":
		w.WriteHeader(http.StatusBadRequest)
	default:
		if r.took[n.Version] == nil {
			r.took[n.Version] = map[string]int{}
		}
		r.took[n.Version][n.ID]++
	}
}

func (r *receiver) set(down bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = down
}

// missing returns the first version up to last that was not told.
func (r *receiver) missing(last uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for v := uint64(1); v <= last; v++ {
		if len(r.took[v]) == 0 {
			return fmt.Errorf("of version %d, of %d, nothing was told after %d calls", v, last, r.calls)
		}
	}
	return nil
}

// Whatever the server acknowledged is told, though it is killed right after, again and again, and
// the receiver is away meanwhile: refuses connections at first, and then fails.
func TestNoticesOutliveKills(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	dir := t.TempDir()
	o := addTenants(t, dir+"/auth.cfg", 1)[0]
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close() // nobody listens yet
	n := &neighbours{t: t, dir: dir}
	n.addSettings(o, "state_rate_limit = off", "notify_url = http://"+address+"/hook", "notify_events = state.write",
		"notify_header = X-Token: s3cret", "notify_secret = whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	s := newServer(dir, tenantsEnviron(dir))
	t.Cleanup(func() {
		if err := s.end(); err != nil {
			t.Error(err)
		}
	})
	r := &receiver{took: map[uint64]map[string]int{}}
	acked := uint64(0)
	const rounds = 8
	for round := range rounds {
		if round == 2 { // it is there at last
			listener, err := net.Listen("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			hook := &httptest.Server{Listener: listener, Config: &http.Server{Handler: r}}
			hook.Start()
			t.Cleanup(hook.Close)
		}
		r.set(round%2 == 0)
		if err := s.start(); err != nil {
			t.Fatal(err)
		}
		o.base, o.http = s.url, httpClient
		for range 1 + rand.IntN(40) {
			answer, err := o.send("POST", "/api/v1/state/x",
				fmt.Appendf(nil, `{"version":4,"serial":%d,"lineage":"5ad8","resources":[]}`, acked+1))
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				t.Fatal(answer.Status)
			}
			acked++
		}
		if round == rounds-1 {
			break
		}
		_ = s.process.end(syscall.SIGKILL)
		s.process = nil
	}
	if err := poll(func() error { return r.missing(acked) }); err != nil {
		t.Fatal(err)
	}
	doubles := 0
	r.mu.Lock()
	for v, ids := range r.took {
		if len(ids) != 1 {
			t.Errorf("version %d was told with the IDs %v: nobody can tell doubles", v, ids)
		}
		for _, times := range ids {
			doubles += times - 1
		}
	}
	r.mu.Unlock()
	t.Logf("%d versions, %d doubles", acked, doubles)
	log, err := os.ReadFile(s.log)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"s3cret", "whsec_", "/hook"} {
		if strings.Contains(string(log), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
}
