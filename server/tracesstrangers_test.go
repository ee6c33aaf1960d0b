package server

import (
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
)

// Who is not known neither puts spans into the trace that a request names, nor says that none is to
// be sent. The parts of its requests are there all the same, in traces of the server's own.
func TestTracesOfStrangers(t *testing.T) {
	collector := newCollectorOfTraces(t)
	standard(t, "OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL, "OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=ours")
	r := start(t)
	unsampled := strings.TrimSuffix(traceparent, "01") + "00"
	for request, sent := range map[string]string{"stranger-1": traceparent, "stranger-2": unsampled} {
		if status, _ := r.ask("GET", "/api/v1/state/payroll", "", "Traceparent", sent, "X-Request-ID", request,
			"Authorization", "Bearer hfk_wrong"); status != http.StatusUnauthorized {
			t.Fatal(request, status)
		}
		line := r.log.find(t, map[string]string{"request_id": request, "msg": "request"})
		if id, _ := line["trace_id"].(string); id == "" || id == clientsTrace {
			t.Errorf("logged %v", line)
		}
	}
	r.ask("GET", "/livez", "", "Traceparent", traceparent)
	r.ask("GET", "/api/v1/state/known", "", "Traceparent", unsampled) // of a client that says so
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	all, below := collector.spans(t), map[string]bool{}
	for name, least := range map[string]int{"GET /api/v1/state/:name": 2, "GET /livez": 1, "authenticate": 2} {
		if len(all[name]) != least {
			t.Errorf("%d spans %q, want %d", len(all[name]), name, least)
		}
	}
	for name, spans := range all {
		for _, span := range spans {
			if hex.EncodeToString(span.TraceId) == clientsTrace {
				t.Errorf("%q is in the trace that a stranger named", name)
			}
			if name == "authenticate" {
				below[string(span.ParentSpanId)] = true
			}
		}
	}
	for _, span := range all["GET /api/v1/state/:name"] {
		if len(span.ParentSpanId) > 0 || !below[string(span.SpanId)] {
			t.Errorf("%v has a parent, or no span of its authentication", span)
		}
	}
}
