package handlers

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/holdfast/holdfast/inventory"
	"github.com/prometheus/client_golang/prometheus"
)

// scrapeLimit is how long a scrape waits for a store to say how it is.
const scrapeLimit = 5 * time.Second

// uploadCollector asks the store of uploads how it is, at each scrape.
type uploadCollector struct {
	service                  *inventory.Service
	degraded, backlog, ahead *prometheus.Desc
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
	}
}

// Describe implements prometheus.Collector.
func (u uploadCollector) Describe(descs chan<- *prometheus.Desc) {
	descs <- u.degraded
	descs <- u.backlog
	descs <- u.ahead
}

// Collect implements prometheus.Collector.
func (u uploadCollector) Collect(found chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeLimit)
	defer cancel()
	degraded := 0.0
	if u.service.Status(ctx) != nil {
		degraded = 1
	}
	found <- prometheus.MustNewConstMetric(u.degraded, prometheus.GaugeValue, degraded)
	found <- prometheus.MustNewConstMetric(u.ahead, prometheus.GaugeValue, u.service.Ahead().Seconds())
	backlog := u.service.Backlog()
	for _, side := range slices.Sorted(maps.Keys(backlog)) {
		found <- prometheus.MustNewConstMetric(u.backlog, prometheus.GaugeValue, float64(backlog[side]), side)
	}
}
