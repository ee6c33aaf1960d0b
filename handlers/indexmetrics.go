package handlers

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast/holdfast/resources"
)

// indexCollector says at each scrape how the resource index is.
type indexCollector struct {
	service                     *resources.Service
	behind, age, failures, read *prometheus.Desc
}

func newIndexCollector(service *resources.Service) indexCollector {
	return indexCollector{
		service: service,
		behind: prometheus.NewDesc("holdfast_resource_index_behind",
			"1 while the resource index could not be brought up to what is written.", nil, nil),
		age: prometheus.NewDesc("holdfast_resource_index_age_seconds",
			"Since when the resource index may lack what was written.", nil, nil),
		failures: prometheus.NewDesc("holdfast_resource_index_failures_total",
			"Tries to bring the resource index up to date that failed.", nil, nil),
		read: prometheus.NewDesc("holdfast_resource_index_states_total", "States that were read into the resource index.",
			nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (i indexCollector) Describe(descs chan<- *prometheus.Desc) {
	describe(descs, i.behind, i.age, i.failures, i.read)
}

// Collect implements prometheus.Collector.
func (i indexCollector) Collect(found chan<- prometheus.Metric) {
	activity, behind := i.service.Activity(), 1.0
	if activity.Current {
		behind = 0
	}
	found <- prometheus.MustNewConstMetric(i.behind, prometheus.GaugeValue, behind)
	found <- prometheus.MustNewConstMetric(i.age, prometheus.GaugeValue, activity.Age.Seconds())
	found <- prometheus.MustNewConstMetric(i.failures, prometheus.CounterValue, float64(activity.Failures))
	found <- prometheus.MustNewConstMetric(i.read, prometheus.CounterValue, float64(activity.States))
}
