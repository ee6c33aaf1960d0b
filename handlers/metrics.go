package handlers

import (
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
	responses *prometheus.CounterVec
	instances prometheus.Counter
	now       func() time.Time
	observers *sync.Map             // from routes to prometheus.Observer: finding one by its labels' text takes longer
	classes   [6]prometheus.Counter // of status, such as 2 for 200
}

// Routes are many, so that their times have few buckets, and no other label.
func newMetrics(service *inventory.Service, guard *middleware.Guard, version string, now func() time.Time) metrics {
	m := metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "holdfast_http_request_duration_seconds",
			Help:    "How long requests took, by route.",
			Buckets: []float64{.001, .005, .025, .1, .5, 2.5, 10, 60},
		}, []string{"route"}),
		responses: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "holdfast_http_responses_total",
			Help: "Answers by class of status.",
		}, []string{"status"}),
		instances: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "holdfast_uploads_instances_total",
			Help: "Uploaded instances that were recorded; replays don't count.",
		}),
		now:       now,
		observers: new(sync.Map),
	}
	for class := 1; class < len(m.classes); class++ {
		m.classes[class] = m.responses.WithLabelValues(strconv.Itoa(class) + "xx")
	}
	m.registry.MustRegister(m.requests, m.responses, m.instances, newUploadCollector(service), newGuardCollector(guard),
		buildInfo(version),
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
		m.observer(knownRoute(c)).Observe(m.now().Sub(start).Seconds())
		if class := c.Writer.Status() / 100; 0 < class && class < len(m.classes) {
			m.classes[class].Inc()
		}
	}()
	c.Next()
}

func (m metrics) observer(route string) prometheus.Observer {
	if found, ok := m.observers.Load(route); ok {
		return found.(prometheus.Observer)
	}
	made := m.requests.WithLabelValues(route)
	m.observers.Store(route, made)
	return made
}

// knownRoute is the pattern, never the path: strangers choose paths.
func knownRoute(c *gin.Context) string {
	if route := c.FullPath(); route != "" {
		return route
	}
	return "none"
}
