package handlers

import (
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/middleware"
)

// metrics is what a monitoring system reads of this server. It needs no credentials, so
// nothing in it tells of tenants; labels come from small fixed sets, never from requests.
type metrics struct {
	registry  *prometheus.Registry
	requests  *prometheus.HistogramVec
	instances prometheus.Counter
	now       func() time.Time
	observers *sync.Map // from labels to prometheus.Observer: finding one by its labels' text takes longer
}

// labels are those of a request.
type labels struct {
	route, method string
	class         int // of the status, such as 2
}

func newMetrics(service *inventory.Service, guard *middleware.Guard, version string, now func() time.Time) metrics {
	m := metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "holdfast_http_request_duration_seconds",
			Help:    "Requests by route, method and class of status, and how long they took.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60},
		}, []string{"route", "method", "status"}),
		instances: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "holdfast_uploads_instances_total",
			Help: "Uploaded instances that were recorded; replays don't count.",
		}),
		now:       now,
		observers: new(sync.Map),
	}
	m.registry.MustRegister(m.requests, m.instances, newUploadCollector(service), newGuardCollector(guard), buildInfo(version),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func buildInfo(version string) prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "holdfast_build_info",
		Help:        "The version that runs; always 1.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	})
	info.Set(1)
	return info
}

// handler answers with all metrics.
func (m metrics) handler() gin.HandlerFunc {
	return gin.WrapH(promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry}))
}

// observe measures every request, also one that is broken off.
func (m metrics) observe(c *gin.Context) {
	start := m.now()
	defer func() {
		is := labels{knownRoute(c), knownMethod(c.Request.Method), c.Writer.Status() / 100}
		m.observer(is).Observe(m.now().Sub(start).Seconds())
	}()
	c.Next()
}

func (m metrics) observer(of labels) prometheus.Observer {
	if found, ok := m.observers.Load(of); ok {
		return found.(prometheus.Observer)
	}
	made := m.requests.WithLabelValues(of.route, of.method, strconv.Itoa(of.class)+"xx")
	m.observers.Store(of, made)
	return made
}

// knownRoute is the pattern, never the path: strangers choose paths.
func knownRoute(c *gin.Context) string {
	if route := c.FullPath(); route != "" {
		return route
	}
	return "none"
}

func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, "LOCK", "UNLOCK":
		return method
	}
	return "other"
}
