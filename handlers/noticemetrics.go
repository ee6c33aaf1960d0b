package handlers

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// NoticeCounts are what became of notices since the start, and what there is now.
type NoticeCounts struct {
	Delivered, Failed, Dropped, Waiting int64
	Oldest                              time.Time // of those that wait; zero for none
}

// noticeCollector shows what becomes of notices, at each scrape.
type noticeCollector struct {
	counts               func() NoticeCounts
	now                  func() time.Time
	ended, waiting, late *prometheus.Desc
}

func newNoticeCollector(counts func() NoticeCounts, now func() time.Time) noticeCollector {
	return noticeCollector{
		counts: counts,
		now:    now,
		ended: prometheus.NewDesc("holdfast_notices_total",
			"Notices that were delivered or dropped, and tries that failed.", []string{"outcome"}, nil),
		waiting: prometheus.NewDesc("holdfast_notices_waiting", "Notices that wait to be delivered.", nil, nil),
		late: prometheus.NewDesc("holdfast_notices_oldest_seconds",
			"How long the oldest notice that is next for its receiver has waited.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (c noticeCollector) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{c.ended, c.waiting, c.late} {
		descs <- desc
	}
}

// Collect implements prometheus.Collector.
func (c noticeCollector) Collect(found chan<- prometheus.Metric) {
	n, late := c.counts(), 0.0
	if !n.Oldest.IsZero() {
		late = max(c.now().Sub(n.Oldest).Seconds(), 0)
	}
	for outcome, count := range map[string]int64{"delivered": n.Delivered, "failed": n.Failed, "dropped": n.Dropped} {
		found <- prometheus.MustNewConstMetric(c.ended, prometheus.CounterValue, float64(count), outcome)
	}
	found <- prometheus.MustNewConstMetric(c.waiting, prometheus.GaugeValue, float64(n.Waiting))
	found <- prometheus.MustNewConstMetric(c.late, prometheus.GaugeValue, late)
}
