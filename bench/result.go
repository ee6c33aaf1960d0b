package bench

import (
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Result is what a run has found. Latencies are in milliseconds.
type Result struct {
	Mix         Mix     `json:"mix"`
	Size        int     `json:"size_bytes,omitempty"` // of a state
	Connections int     `json:"connections"`
	Gzip        bool    `json:"gzip,omitempty"`
	Seconds     float64 `json:"seconds"` // that the window was open
	Operations  int64   `json:"operations"`
	PerSecond   float64 `json:"operations_per_second"`
	Latency     Latency `json:"latency_ms"`
	// Steps are the operation's parts, by method.
	Steps map[string]Latency `json:"steps_ms,omitempty"`
	// Waits counts how often a patient load waited for a crowded server.
	Waits int64 `json:"waits,omitempty"`
	// Spent says that the run was ended early, because little was left of an organization's limit.
	Spent bool `json:"spent,omitempty"`
	// Errors counts failed operations by step and kind, such as "POST 503". They are not
	// among the operations.
	Errors map[string]int64 `json:"errors"`
	// Examples has one message for each kind of error.
	Examples map[string]string `json:"examples,omitempty"`
}

// Latency is how long something took.
type Latency struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

func (l *Load) result(records []*record, elapsed time.Duration) Result {
	all := newRecord()
	for _, r := range records {
		all.merge(r)
	}
	o := l.options
	result := Result{
		Mix: o.Mix, Connections: o.Connections, Gzip: o.Gzip, Seconds: elapsed.Seconds(), Operations: all.operations,
		PerSecond: float64(all.operations) / elapsed.Seconds(), Latency: latencyOf(all.all), Steps: map[string]Latency{},
		Waits: all.waits, Spent: l.spent.Load(), Errors: all.errors, Examples: all.example,
	}
	if o.Mix.hasStates() {
		result.Size = o.Size
	}
	for step, h := range all.each {
		if h != nil {
			result.Steps[stepName(step)] = latencyOf(h)
		}
	}
	return result
}

func latencyOf(h *hdrhistogram.Histogram) Latency {
	at := func(percent float64) float64 { return float64(h.ValueAtPercentile(percent)) / 1e3 }
	return Latency{P50: at(50), P95: at(95), P99: at(99), Max: float64(h.Max()) / 1e3}
}

// Failed returns how many operations failed.
func (r Result) Failed() (n int64) {
	for _, count := range r.Errors {
		n += count
	}
	return n
}

// Limited reports whether the server refused operations for their number: then its limits
// were measured, and nothing else.
func (r Result) Limited() bool {
	for kind := range r.Errors {
		if strings.HasSuffix(kind, " "+Refused) || strings.HasSuffix(kind, " "+Crowded) {
			return true
		}
	}
	return false
}
