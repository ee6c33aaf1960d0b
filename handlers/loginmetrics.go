package handlers

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast/holdfast/fault"
)

// refuser counts what it refuses. *verify.Verifier is one.
type refuser interface {
	Refusals() map[fault.Code]uint64
}

// loginCollector shows at each scrape how many credentials were refused.
type loginCollector struct {
	verifier refuser
	refused  *prometheus.Desc
}

func newLoginCollector(verifier refuser) loginCollector {
	return loginCollector{verifier, prometheus.NewDesc("holdfast_logins_refused_total",
		"Credentials that were refused, by the code of the answer. Requests without any don't count.", []string{"code"}, nil)}
}

// Describe implements prometheus.Collector.
func (l loginCollector) Describe(descs chan<- *prometheus.Desc) { descs <- l.refused }

// Collect implements prometheus.Collector.
func (l loginCollector) Collect(found chan<- prometheus.Metric) {
	refused := l.verifier.Refusals()
	for _, code := range slices.Sorted(maps.Keys(refused)) {
		found <- prometheus.MustNewConstMetric(l.refused, prometheus.CounterValue, float64(refused[code]), string(code))
	}
}
