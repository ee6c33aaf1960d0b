package handlers

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast/holdfast/inventory"
)

// scrapeLimit is how long a scrape waits for a store to say how it is.
const scrapeLimit = 5 * time.Second

// uploadCollector asks the store of uploads how it is, at each scrape.
type uploadCollector struct {
	service                           *inventory.Service
	degraded, backlog, ahead, refused *prometheus.Desc
}

func newUploadCollector(service *inventory.Service) uploadCollector {
	return uploadCollector{
		service: service,
		degraded: prometheus.NewDesc("holdfast_uploads_degraded",
			"1 while the store of uploads, or one of its sides, is away or behind.", nil, nil),
		backlog: prometheus.NewDesc("holdfast_uploads_backlog",
			"Requests that one side of a dual store has recorded and this one is owed.", []string{"side"}, nil),
		ahead: prometheus.NewDesc("holdfast_uploads_ahead_seconds",
			"How far the newest timestamps that uploads got lie ahead of the clock, over all organizations.", nil, nil),
		refused: prometheus.NewDesc("holdfast_uploads_refused_total",
			"Requests that this side of a dual store has refused for good, and lacks.", []string{"side"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (u uploadCollector) Describe(descs chan<- *prometheus.Desc) {
	describe(descs, u.degraded, u.backlog, u.ahead, u.refused)
}

// Collect implements prometheus.Collector.
func (u uploadCollector) Collect(found chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeLimit)
	defer cancel()
	gauge(found, u.degraded, u.service.Status(ctx) != nil)
	found <- prometheus.MustNewConstMetric(u.ahead, prometheus.GaugeValue, u.service.Ahead().Seconds())
	perSide(found, u.backlog, prometheus.GaugeValue, u.service.Backlog())
	perSide(found, u.refused, prometheus.CounterValue, u.service.Refused())
}

func gauge(found chan<- prometheus.Metric, desc *prometheus.Desc, on bool) {
	value := 0.0
	if on {
		value = 1
	}
	found <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value)
}

func perSide(found chan<- prometheus.Metric, desc *prometheus.Desc, kind prometheus.ValueType,
	counts map[string]int64) {
	for _, side := range slices.Sorted(maps.Keys(counts)) {
		found <- prometheus.MustNewConstMetric(desc, kind, float64(counts[side]), side)
	}
}
