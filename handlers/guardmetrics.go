package handlers

import (
	"github.com/holdfast/holdfast/state"
	"github.com/prometheus/client_golang/prometheus"
)

// guardCollector shows what guards have found, over all organizations.
type guardCollector struct {
	service *state.Service
	found   *prometheus.Desc
}

func newGuardCollector(service *state.Service) guardCollector {
	return guardCollector{service, prometheus.NewDesc("holdfast_guard_findings_total",
		"What guards found in writes, by whether the write was accepted or held.", []string{"finding", "outcome"}, nil)}
}

// Describe implements prometheus.Collector.
func (g guardCollector) Describe(descs chan<- *prometheus.Desc) { descs <- g.found }

// Collect implements prometheus.Collector.
func (g guardCollector) Collect(found chan<- prometheus.Metric) {
	for _, f := range g.service.Findings() {
		found <- prometheus.MustNewConstMetric(g.found, prometheus.CounterValue, float64(f.Accepted), f.Name, "accepted")
		found <- prometheus.MustNewConstMetric(g.found, prometheus.CounterValue, float64(f.Held), f.Name, "held")
	}
}
