package handlers

import (
	"context"
	"fmt"
	"net/http"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/quota"
)

// quotaHeader is in answers to writes when the organization is near its quota: used/limit,
// in bytes.
const quotaHeader = "X-Holdfast-Quota"

// warnQuota tells a caller whose organization comes near its quota.
func warnQuota(header http.Header, keeper *quota.Keeper, org uuid.UUID) {
	if s, near := keeper.Near(org); near {
		header.Set(quotaHeader, fmt.Sprintf("%d/%d", s.Used, s.Limit))
	}
}

// quotaOf is nil where it is not known: what is shown of a caller must not depend on it.
func quotaOf(ctx context.Context, keeper *quota.Keeper, org uuid.UUID) *api.Quota {
	if keeper == nil {
		return nil
	}
	s, err := keeper.Standing(ctx, org)
	if err != nil {
		return nil
	}
	shown := &api.Quota{Used: s.Used, States: s.By[quota.States], Uploads: s.By[quota.Uploads]}
	if s.Limit != quota.Unlimited {
		shown.Limit = &s.Limit
	}
	return shown
}

// quotaCollector shows what is refused for want of room, at each scrape, over all
// organizations.
type quotaCollector struct {
	keeper                               *quota.Keeper
	refused, spared, near, free, reserve *prometheus.Desc
}

func newQuotaCollector(keeper *quota.Keeper) quotaCollector {
	return quotaCollector{
		keeper: keeper,
		refused: prometheus.NewDesc("holdfast_quota_refused_total",
			"Writes and locks that were refused because of the organization's quota, or because the disk has only its "+
				"reserve left.", []string{"reason"}, nil),
		spared: prometheus.NewDesc("holdfast_quota_spared_total",
			"Writes that would have been refused so, had they not come from a lock's holder.", nil, nil),
		near: prometheus.NewDesc("holdfast_quota_near_organizations",
			"Organizations that had 80 % of their quota or more when they stored something last.", nil, nil),
		free: prometheus.NewDesc("holdfast_disk_free_bytes", "What is free on the data's disk, the reserve included.", nil,
			nil),
		reserve: prometheus.NewDesc("holdfast_disk_reserve_bytes",
			"The last part of the disk, for lock holders and for what makes room.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (q quotaCollector) Describe(descs chan<- *prometheus.Desc) {
	describe(descs, q.refused, q.spared, q.near, q.free, q.reserve)
}

// Collect implements prometheus.Collector.
func (q quotaCollector) Collect(found chan<- prometheus.Metric) {
	for _, reason := range quota.Reasons() {
		found <- prometheus.MustNewConstMetric(q.refused, prometheus.CounterValue, float64(q.keeper.Refused(reason)),
			reason.String())
	}
	found <- prometheus.MustNewConstMetric(q.spared, prometheus.CounterValue, float64(q.keeper.Spared()))
	found <- prometheus.MustNewConstMetric(q.near, prometheus.GaugeValue, float64(q.keeper.NearOnes()))
	if free, reserve, known := q.keeper.Disk(); known {
		found <- prometheus.MustNewConstMetric(q.free, prometheus.GaugeValue, float64(free))
		found <- prometheus.MustNewConstMetric(q.reserve, prometheus.GaugeValue, float64(reserve))
	}
}
