package handlers

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast/holdfast/middleware"
)

// connectionCollector shows who has connections, at each scrape.
type connectionCollector struct {
	connections  *middleware.Connections
	open, closed *prometheus.Desc
}

func newConnectionCollector(connections *middleware.Connections) connectionCollector {
	return connectionCollector{
		connections: connections,
		open: prometheus.NewDesc("holdfast_connections",
			"Open connections: known for those that carried good credentials and those of trusted proxies, else stranger.",
			[]string{"who"}, nil),
		closed: prometheus.NewDesc("holdfast_connections_closed_total",
			"Connections that were closed, or never served, because there were as many as may be from their address or in total.", []string{"reason"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (c connectionCollector) Describe(descs chan<- *prometheus.Desc) {
	descs <- c.open
	descs <- c.closed
}

// Collect implements prometheus.Collector.
func (c connectionCollector) Collect(found chan<- prometheus.Metric) {
	known, strangers := c.connections.Open()
	found <- prometheus.MustNewConstMetric(c.open, prometheus.GaugeValue, float64(known), "known")
	found <- prometheus.MustNewConstMetric(c.open, prometheus.GaugeValue, float64(strangers), "stranger")
	for _, why := range middleware.Crowdings() {
		found <- prometheus.MustNewConstMetric(c.closed, prometheus.CounterValue, float64(c.connections.Closed(why)),
			why.String())
	}
}

// guardCollector shows what a guard counts, at each scrape.
type guardCollector struct {
	guard                                  *middleware.Guard
	requests, bytes, held, refused, spared *prometheus.Desc
}

func newGuardCollector(guard *middleware.Guard) guardCollector {
	reason := []string{"reason"}
	return guardCollector{
		guard:    guard,
		requests: prometheus.NewDesc("holdfast_in_flight_requests", "Requests that are worked on now.", nil, nil),
		bytes: prometheus.NewDesc("holdfast_in_flight_bytes",
			"Bytes of bodies that are in memory now: of requests, of states that are read for whatever reason, and of answers "+
				"made of them.", nil, nil),
		held: prometheus.NewDesc("holdfast_limits_held_total",
			"Requests beyond their organization's rate that had to wait for their turn.", nil, nil),
		refused: prometheus.NewDesc("holdfast_limits_refused_total", "Requests that a limit refused, by reason.", reason,
			nil),
		spared: prometheus.NewDesc("holdfast_limits_spared_total",
			"Requests that a limit would have refused, had they not come from a lock's holder.", reason, nil),
	}
}

// Describe implements prometheus.Collector.
func (g guardCollector) Describe(descs chan<- *prometheus.Desc) {
	describe(descs, g.requests, g.bytes, g.held, g.refused, g.spared)
}

// Collect implements prometheus.Collector.
func (g guardCollector) Collect(found chan<- prometheus.Metric) {
	requests, bytes := g.guard.InUse()
	found <- prometheus.MustNewConstMetric(g.requests, prometheus.GaugeValue, float64(requests))
	found <- prometheus.MustNewConstMetric(g.bytes, prometheus.GaugeValue, float64(bytes))
	found <- prometheus.MustNewConstMetric(g.held, prometheus.CounterValue, float64(g.guard.Held()))
	for _, reason := range middleware.Reasons() {
		found <- prometheus.MustNewConstMetric(g.refused, prometheus.CounterValue, float64(g.guard.Refused(reason)),
			reason.String())
		if reason == middleware.Slowness {
			continue // of which nobody is spared
		}
		found <- prometheus.MustNewConstMetric(g.spared, prometheus.CounterValue, float64(g.guard.Spared(reason)),
			reason.String())
	}
}
