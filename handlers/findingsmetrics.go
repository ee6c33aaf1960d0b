package handlers

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast/holdfast/state"
)

// findingsCollector shows what guards have found, over all organizations.
type findingsCollector struct {
	service *state.Service
	found   *prometheus.Desc
}

func newFindingsCollector(service *state.Service) findingsCollector {
	return findingsCollector{service, prometheus.NewDesc("holdfast_guard_findings_total",
		"What guards found in writes, by whether the write was accepted or held.", []string{"finding", "outcome"}, nil)}
}

// Describe implements prometheus.Collector.
func (g findingsCollector) Describe(descs chan<- *prometheus.Desc) { descs <- g.found }

// Collect implements prometheus.Collector.
func (g findingsCollector) Collect(found chan<- prometheus.Metric) {
	for _, f := range g.service.Findings() {
		found <- prometheus.MustNewConstMetric(g.found, prometheus.CounterValue, float64(f.Accepted), f.Name, "accepted")
		found <- prometheus.MustNewConstMetric(g.found, prometheus.CounterValue, float64(f.Held), f.Name, "held")
	}
}
