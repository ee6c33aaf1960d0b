package handlers_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

// held is a store whose reads wait until they are let go.
type held struct {
	state.Store
	begun chan struct{}
	gate  chan struct{}
}

func (h held) Current(ctx context.Context, ref state.Ref) (state.Snapshot, error) {
	if ref.Name == "slow" {
		h.begun <- struct{}{}
		<-h.gate
	}
	return h.Store.Current(ctx, ref)
}

func heldDeps(t *testing.T, limits middleware.Limits) (handlers.Deps, held) {
	deps := testDeps(t)
	store := held{memory.New(64 << 20), make(chan struct{}, 100), make(chan struct{})}
	deps.States = state.NewService(store, state.DefaultPolicies{}, time.Now,
		slog.New(slog.DiscardHandler)).Within(limits.Memory)
	deps.Limits = limits
	return deps, store
}

// busy starts requests that stay in flight until end.
func busy(store held, c caller, n int) (end func()) {
	var all sync.WaitGroup
	for range n {
		all.Go(func() { c.do("GET /api/v1/state/slow", "") })
		<-store.begun
	}
	return func() {
		close(store.gate)
		all.Wait()
	}
}

// wantIdle checks that nothing is in flight any more.
func wantIdle(t *testing.T, url string) {
	t.Helper()
	c := caller{t: t, url: url, client: http.DefaultClient}
	var got string
	// An answer may be read to its end just before its handler returns.
	for range 5000 {
		got = c.do("GET /metrics", "").body
		if strings.Contains(got, "holdfast_in_flight_requests 0\n") && strings.Contains(got, "holdfast_in_flight_bytes 0\n") {
			return
		}
		time.Sleep(time.Millisecond)
	}
	has(t, got, "holdfast_in_flight_requests 0")
	has(t, got, "holdfast_in_flight_bytes 0")
}

func TestRequestsInFlight(t *testing.T) {
	deps, store := heldDeps(t, middleware.Limits{InFlight: 10})
	server := startServer(t, deps)
	c, other := newCaller(t, server, acme, acmeKey), newCaller(t, server, globex, globexKey)
	c.converse([]step{{"LOCK /api/v1/state/x", infoA, 200, ""}})
	endFirst := busy(store, c, 6)
	refused := c.do("GET /api/v1/state/x", "")
	if refused.status != 503 || !strings.Contains(refused.body, `"overloaded"`) ||
		refused.header.Get("Retry-After") != "1" {
		t.Errorf("more than two thirds for one organization: %d %v %s", refused.status, refused.header, refused.body)
	}
	if got := c.do("POST /upload", oneUpload("a")); got.status != 503 {
		t.Errorf("an upload beside that: %d", got.status)
	}
	if got := c.do("GET /api/v1/resources", ""); got.status != 503 {
		t.Errorf("a search beside that: %d", got.status)
	}
	other.converse([]step{{"POST /api/v1/state/mine", body(1), 200, ""}, {"GET /api/v1/state/mine", "", 200, ""}})
	// A lock's holder has what nobody else has, and probes need no place.
	c.converse([]step{
		{"POST /api/v1/state/x?ID=b-2", body(1), 503, ""},
		{"POST /api/v1/state/x?ID=a-1", body(1), 200, ""},
		{"UNLOCK /api/v1/state/x", infoB, 503, ""},
		{"UNLOCK /api/v1/state/x", infoA, 200, ""},
	})
	stranger := c
	stranger.user = ""
	stranger.converse([]step{{"GET /livez", "", 200, ""}, {"GET /readyz", "", 200, ""}, {"GET /health", "", 200, ""}})
	has(t, stranger.do("GET /metrics", "").body, "holdfast_in_flight_requests 6")
	has(t, stranger.do("GET /metrics", "").body, `holdfast_limits_refused_total\{reason="in_flight"\} 5`)
	has(t, stranger.do("GET /metrics", "").body, `holdfast_limits_spared_total\{reason="in_flight"\} 2`)
	endFirst()
	c.converse([]step{{"GET /api/v1/state/x", "", 200, ""}})
	wantIdle(t, server.URL)
}

// sending sends a request's headers and what there is of its body, and returns the rest's
// way in.
func sending(t *testing.T, c caller, path string, length int64, begin string) (rest *io.PipeWriter, answered chan int) {
	t.Helper()
	body, rest := io.Pipe()
	t.Cleanup(func() { _ = rest.CloseWithError(io.ErrUnexpectedEOF) })
	r, err := http.NewRequest("POST", c.url+path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = length
	r.SetBasicAuth(c.user, c.key)
	answered = make(chan int, 1)
	go func() {
		response, err := c.client.Do(r)
		if err != nil {
			answered <- 0
			return
		}
		defer response.Body.Close()
		answered <- response.StatusCode
	}()
	go io.WriteString(rest, begin) // fails when the server does not want it
	return rest, answered
}

// awaitGauge waits until a metric has a value.
func awaitGauge(t *testing.T, url, line string) {
	t.Helper()
	c := caller{t: t, url: url, client: http.DefaultClient}
	for range 5000 {
		if strings.Contains(c.do("GET /metrics", "").body, line+"\n") {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("no %q in %s", line, c.do("GET /metrics", "").body)
}

// Vulnerability: bodies that take their time take up connections, each request within every
// other limit, until there are none for anybody else.
// Check: an organization gets its part of those that may be under way; others, and who
// holds a lock, get in.
func TestSlowBodiesLeaveConnections(t *testing.T) {
	deps := testDeps(t)
	deps.Limits = middleware.Limits{Begun: 10}
	server := startServer(t, deps)
	greedy, other := newCaller(t, server, acme, acmeKey), newCaller(t, server, globex, globexKey)
	greedy.converse([]step{{"LOCK /api/v1/state/y", infoA, 200, ""}})
	for range 30 {
		conn := dialled(t, server.URL)
		defer conn.Close()
		conn.post(greedy, "/api/v1/state/x", 1000, "{")
	}
	awaitGauge(t, server.URL, `holdfast_limits_refused_total{reason="begun"} 24`)
	greedy.converse([]step{
		{"GET /api/v1/state/y", "", 503, "overloaded"},
		{"UNLOCK /api/v1/state/y", infoA, 200, ""},
	})
	other.converse([]step{{"POST /api/v1/state/x", body(1), 200, ""}, {"GET /api/v1/state/x", "", 200, ""}})
	has(t, other.do("GET /metrics", "").body, `holdfast_limits_spared_total\{reason="begun"\} 1`)
}

// Who sends slowly, or announces much and sends nothing, takes no place and no memory that
// it has not filled.
func TestSlowSendersTakeNoPlace(t *testing.T) {
	deps, _ := heldDeps(t, middleware.Limits{InFlight: 2, Memory: middleware.NewMemory(4 << 20)})
	server := startServer(t, deps)
	c := newCaller(t, server, acme, acmeKey)
	const slow = 20
	var rests []*io.PipeWriter
	for range slow {
		rest, _ := sending(t, c, "/api/v1/state/x", maxStateBytes, "{")
		rests = append(rests, rest)
	}
	awaitGauge(t, server.URL, fmt.Sprintf("holdfast_in_flight_bytes %d", slow*4096))
	awaitGauge(t, server.URL, "holdfast_in_flight_requests 0")
	c.converse([]step{{"POST /api/v1/state/y", body(1), 200, ""}, {"GET /api/v1/state/y", "", 200, "=" + body(1)}})
	for _, rest := range rests {
		_ = rest.CloseWithError(io.ErrUnexpectedEOF)
	}
	wantIdle(t, server.URL)
}

// Bodies fill the budget as they arrive; what comes then is refused, a holder last.
func TestBytesInFlight(t *testing.T) {
	deps, _ := heldDeps(t, middleware.Limits{Memory: middleware.NewMemory(4 << 20)})
	server := startServer(t, deps)
	c, other := newCaller(t, server, acme, acmeKey), newCaller(t, server, globex, globexKey)
	other.converse([]step{{"LOCK /api/v1/state/x", infoA, 200, ""},
		{"POST /api/v1/state/x?ID=a-1", largeState(600_000), 200, ""}})
	var rests []*io.PipeWriter
	var answers []chan int
	sizes, sum := []int{900_000, 900_000, 900_000, 450_000}, 0
	for i, size := range sizes {
		who := []caller{c, other}[i/2]
		rest, answered := sending(t, who, fmt.Sprint("/api/v1/state/s", i), int64(size), largeState(size)[:400_000])
		rests, answers, sum = append(rests, rest), append(answers, answered), sum+size+1
		awaitGauge(t, server.URL, "holdfast_in_flight_bytes "+metric(sum))
	}
	other.converse([]step{
		{"GET /api/v1/state/x", "", 503, "overloaded"},
		{"POST /api/v1/state/x", largeState(300_000), 503, "overloaded"},
		{"POST /api/v1/state/x?ID=b-2", largeState(300_000), 503, "overloaded"},
		{"POST /api/v1/state/x", body(1), 409, ""}, // small ones always fit
		{"POST /api/v1/state/x?ID=a-1", largeState(300_000), 200, ""},
		{"UNLOCK /api/v1/state/x", infoA, 200, ""},
	})
	for i, rest := range rests {
		if _, err := io.WriteString(rest, largeState(sizes[i])[400_000:]); err != nil {
			t.Fatal(err)
		}
		_ = rest.Close()
		if status := <-answers[i]; status != 200 {
			t.Errorf("body %d: %d", i, status)
		}
	}
	other.converse([]step{{"GET /api/v1/state/x", "", 200, ""}})
	wantIdle(t, server.URL)
}

// metric writes a number as the metrics do.
func metric(n int) string { return strconv.FormatFloat(float64(n), 'g', -1, 64) }

func largeState(size int) string {
	const frame = `{"serial":1,"lineage":"5ad8","filler":""}`
	return strings.Replace(frame, `""}`, `"`+strings.Repeat("x", size-len(frame))+`"}`, 1)
}

// Whatever becomes of requests, nothing of theirs stays in flight.
func TestNothingStaysInFlight(t *testing.T) {
	deps, store := heldDeps(t,
		middleware.Limits{Requests: 50, States: 200, InFlight: 4, Memory: middleware.NewMemory(3 << 20),
			Pace: middleware.Pace{Silence: time.Second, MinRate: 1 << 20}})
	deps.States = state.NewService(panicky{store}, state.DefaultPolicies{}, time.Now,
		slog.New(slog.DiscardHandler)).Within(deps.Limits.Memory)
	server := startServer(t, deps)
	c := newCaller(t, server, acme, acmeKey)
	c.do("LOCK /api/v1/state/x", infoA)
	outcomes := sync.Map{}
	note := func(status int) { outcomes.Store(status, true) }
	do := func(request, body string) { note(c.try(request, body)) }
	work := []func(i int){
		func(i int) { do("POST /api/v1/state/x?ID=a-1", largeState(1000+i*10_000)) },
		func(i int) { do(fmt.Sprintf("POST /api/v1/state/s%d", i), largeState(1000+i*10_000)) },
		func(i int) { do(fmt.Sprintf("GET /api/v1/state/s%d", i), "") },
		func(int) { do("GET /api/v1/state/panic", "") },
		func(int) { do("GET /api/v1/state/panic?version=1", "") },
		func(int) { do("GET /api/v1/state/panic/-/versions", "") },
		func(int) { do("GET /api/v1/state/panic/-/candidates?limit=5", "") },
		func(int) { do("GET /api/v1/states?prefix=panic", "") },
		func(int) { do("GET /api/v1/audit?state=panic&limit=5", "") },
		func(int) { do("POST /upload", oneUpload("a")) },
		func(int) { do("POST /upload", largeState(100_000)) },
		func(int) { do("POST /api/v1/state/big", largeState(maxStateBytes+1)) },
		func(int) { do("UNLOCK /api/v1/state/nobody", infoB) },
		func(i int) { leave(c, i, note) },
		func(int) { stall(t, c, note) },
	}
	endFirst := busy(store, c, 2)
	do("GET /api/v1/state/x", "")
	endFirst()
	do("GET /api/v1/state/nobody", "")
	do("POST /upload", largeState(100_000)) // before the others use up the rate, else it may only ever be refused for that
	var all sync.WaitGroup
	for i := range 300 {
		all.Go(func() { work[i%len(work)](i / len(work)) })
	}
	all.Wait()
	for _, status := range []int{0, 200, 400, 404, 408, 413, 429, 500, 503} {
		if _, ok := outcomes.Load(status); !ok {
			t.Errorf("no request ended with %d: the test shows less than it should", status)
		}
	}
	wantIdle(t, server.URL)
}

// panicky panics over one name.
type panicky struct{ state.Store }

func (p panicky) Current(ctx context.Context, ref state.Ref) (state.Snapshot, error) {
	if ref.Name == "panic" {
		panic("over a name")
	}
	return p.Store.Current(ctx, ref)
}

func (p panicky) Versions(ctx context.Context, ref state.Ref, before uint64, limit int) ([]state.Version, error) {
	if ref.Name == "panic" && before == 0 {
		panic("over a name")
	}
	return p.Store.Versions(ctx, ref, before, limit)
}

func (p panicky) Candidates(context.Context, state.Ref, string, int) ([]state.Candidate, error) {
	panic("over a name")
}

func (p panicky) States(context.Context, uuid.UUID, state.StatesQuery) (state.Page, error) {
	panic("over a name")
}

func (p panicky) Events(context.Context, uuid.UUID, audit.Query) (audit.Page, error) {
	panic("over a name")
}

// try is do for requests that may be cut off: they have the status 0.
func (c caller) try(request, body string) int {
	method, path, _ := strings.Cut(request, " ")
	r, _ := http.NewRequest(method, c.url+path, strings.NewReader(body))
	r.SetBasicAuth(c.user, c.key)
	response, err := c.client.Do(r)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// leave hangs up in the middle of a request.
func leave(c caller, i int, note func(int)) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*100*time.Microsecond)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, "POST", c.url+"/api/v1/state/left", strings.NewReader(largeState(500_000)))
	r.SetBasicAuth(c.user, c.key)
	response, err := c.client.Do(r)
	if err != nil {
		note(0)
		return
	}
	response.Body.Close()
}

// stall begins a body and sends no more of it.
func stall(t *testing.T, c caller, note func(int)) {
	conn := dialled(t, c.url)
	defer conn.Close()
	conn.post(c, "/api/v1/state/stalled", 100_000, largeState(90_000)[:10_000])
	note(conn.status())
}
