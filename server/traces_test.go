package server

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector is what takes traces by OTLP over HTTP.
type collectorOfTraces struct {
	*httptest.Server
	mu    sync.Mutex
	got   []*tracepb.ResourceSpans
	other []string // what came that was no trace
}

func newCollectorOfTraces(t *testing.T) *collectorOfTraces {
	c := &collectorOfTraces{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var sent tracepb.TracesData // on the wire the same as an ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &sent)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/traces" ||
			r.Header.Get("Content-Type") != "application/x-protobuf" || r.Header.Get("X-Tenant") != "ours" {
			c.other = append(c.other, r.Method+" "+r.URL.Path)
		}
		c.got = append(c.got, sent.ResourceSpans...)
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(c.Close)
	return c
}

// spans are all that came, by their names.
func (c *collectorOfTraces) spans(t *testing.T) map[string][]*tracepb.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.other) > 0 {
		t.Errorf("the collector got %v", c.other)
	}
	all := map[string][]*tracepb.Span{}
	for _, of := range c.got {
		for _, scope := range of.ScopeSpans {
			for _, span := range scope.Spans {
				all[span.Name] = append(all[span.Name], span)
			}
		}
	}
	return all
}

// text is all that was sent, as far as it is text.
func (c *collectorOfTraces) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all strings.Builder
	for _, of := range c.got {
		all.WriteString(of.String())
	}
	return all.String()
}

// standard sets OpenTelemetry's variables, which the SDK reads by itself.
func standard(t *testing.T, variables ...string) {
	for _, name := range []string{"OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
		"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_SERVICE_NAME", "OTEL_TRACES_SAMPLER",
		"OTEL_BSP_SCHEDULE_DELAY", "OTEL_BSP_MAX_QUEUE_SIZE", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE"} {
		t.Setenv(name, "")
	}
	for i := 0; i < len(variables); i += 2 {
		t.Setenv(variables[i], variables[i+1])
	}
}

const (
	clientsTrace = "0af7651916cd43dd8448eb211c80319c"
	traceparent  = "00-" + clientsTrace + "-b7ad6b7169203331-01"
)

// Requests are spans of their clients' traces, with their parts below them; log lines name the
// trace; and nothing of a key, a state or its name is in what is sent. What waits is sent at a stop.
func TestTraces(t *testing.T) {
	collector := newCollectorOfTraces(t)
	standard(t, "OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL, "OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=ours",
		"OTEL_SERVICE_NAME", "states of ours")
	r := start(t)
	if status, answer := r.ask("POST", "/api/v1/state/payroll",
		`{"version":4,"serial":1,"lineage":"a","secret":"hunter2"}`, "Traceparent", traceparent, "X-Request-ID",
		"write-1"); status != http.StatusOK {
		t.Fatal(status, answer)
	}
	r.ask("GET", "/api/v1/state/payroll", "")
	r.ask("POST", "/api/v1/upload",
		`{"provider":"aws","category":"compute","resource_type":"vm","attributes":{"secret":"hunter2"}}`)
	r.ask("BREW", "/payroll", "")
	if line := r.log.find(t, map[string]string{"request_id": "write-1"}); line["trace_id"] != clientsTrace {
		t.Errorf("logged %v", line)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	all := collector.spans(t)
	for name, least := range map[string]int{
		"POST /api/v1/state/:name": 1, "GET /api/v1/state/:name": 1, "POST /api/v1/upload": 1, "_OTHER": 1,
		"authenticate": 3, "read body": 2, "write answer": 3, "commit": 1, "append to CSV": 1,
	} {
		if len(all[name]) < least {
			t.Errorf("%d spans %q, want %d", len(all[name]), name, least)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
	write := all["POST /api/v1/state/:name"][0]
	if hex.EncodeToString(write.TraceId) != clientsTrace || hex.EncodeToString(write.ParentSpanId) != "b7ad6b7169203331" {
		t.Errorf("the client's trace is not gone on with: %v", write)
	}
	for _, part := range []string{"authenticate", "read body", "commit", "write answer"} {
		if !slices.ContainsFunc(all[part],
			func(s *tracepb.Span) bool { return string(s.ParentSpanId) == string(write.SpanId) }) {
			t.Errorf("no span %q is a part of the write", part)
		}
	}
	text := collector.text()
	for _, secret := range []string{runningKey, "hunter2", "payroll", "BREW", r.org.String()} {
		if strings.Contains(text, secret) {
			t.Errorf("the traces tell of %s", secret)
		}
	}
	if !strings.Contains(text, "states of ours") {
		t.Error("the traces don't name the service")
	}
}

// Who asks for no traces has none.
func TestNoTraces(t *testing.T) {
	for _, variables := range [][]string{
		{},
		{"OTEL_SERVICE_NAME", "x"},
		{"OTEL_SDK_DISABLED", "true", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"},
		{"OTEL_TRACES_EXPORTER", "none", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"},
	} {
		environ := map[string]string{}
		for i := 0; i < len(variables); i += 2 {
			environ[variables[i]] = variables[i+1]
		}
		if wanted, err := wantsTraces(func(name string) string { return environ[name] }); wanted || err != nil {
			t.Errorf("%v: %t, %v", variables, wanted, err)
		}
	}
	for _, variables := range [][2]string{{"OTEL_TRACES_EXPORTER", "jaeger"}, {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}} {
		_, err := wantsTraces(func(name string) string {
			if name == variables[0] {
				return variables[1]
			}
			if name == "OTEL_EXPORTER_OTLP_ENDPOINT" {
				return "http://127.0.0.1:1"
			}
			return ""
		})
		if err == nil || !strings.Contains(err.Error(), variables[0]) {
			t.Errorf("%v: %v", variables, err)
		}
	}
}

// The sampler is the SDK's, by its variable. Lines of the log name the trace all the same.
func TestTracesThatNobodySamples(t *testing.T) {
	collector := newCollectorOfTraces(t)
	standard(t, "OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL, "OTEL_TRACES_SAMPLER", "always_off")
	r := start(t)
	r.ask("GET", "/api/v1/state/payroll", "", "Traceparent", traceparent, "X-Request-ID", "read-1")
	if line := r.log.find(t, map[string]string{"request_id": "read-1"}); line["trace_id"] != clientsTrace {
		t.Errorf("logged %v", line)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if all := collector.spans(t); len(all) > 0 {
		t.Errorf("sent %v", all)
	}
}

// A collector that hangs keeps nobody waiting, and a stop not for long.
func TestTracesToNobody(t *testing.T) {
	gone := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-gone }))
	defer hangs.Close()
	defer close(gone)
	standard(t, "OTEL_EXPORTER_OTLP_ENDPOINT", hangs.URL, "OTEL_BSP_SCHEDULE_DELAY", "1", "OTEL_BSP_MAX_QUEUE_SIZE", "10",
		"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "5")
	r := start(t)
	for range 100 { // more than the queue has room for
		if status, _ := r.ask("GET", "/livez", ""); status != http.StatusOK {
			t.Fatal(status)
		}
	}
	if status, _ := r.ask("POST", "/api/v1/state/x", `{"version":4,"serial":1,"lineage":"a"}`); status != http.StatusOK {
		t.Fatal(status)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
}
