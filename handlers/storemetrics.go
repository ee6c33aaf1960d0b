package handlers

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast/holdfast/internal/vitals"
	"github.com/holdfast/holdfast/state"
)

// stateCollector shows at each scrape what there is of states and locks, over all organizations.
type stateCollector struct {
	service                      *state.Service
	now                          func() time.Time
	states, locks, oldest, ended *prometheus.Desc
	rewound                      *prometheus.Desc
}

func newStateCollector(service *state.Service, now func() time.Time) stateCollector {
	return stateCollector{
		service: service,
		now:     now,
		states:  prometheus.NewDesc("holdfast_states", "States that can be read.", nil, nil),
		rewound: prometheus.NewDesc("holdfast_states_rewound",
			"States that are refused, because the database has lost changes of them that were acknowledged.", nil, nil),
		locks: prometheus.NewDesc("holdfast_locks", "Locks that are held.", nil, nil),
		oldest: prometheus.NewDesc("holdfast_locks_oldest_seconds",
			"For how long the lock is held that was granted before all others; 0 without locks.", nil, nil),
		ended: prometheus.NewDesc("holdfast_locks_ended_total",
			"Locks that ended otherwise than by their holders: taken_over from who gave no sign of life, forced by somebody, "+
				"run for a run that was lost.", []string{"how"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (s stateCollector) Describe(descs chan<- *prometheus.Desc) {
	describe(descs, s.states, s.rewound, s.locks, s.oldest, s.ended)
}

// Collect implements prometheus.Collector. A store that does not answer has no totals.
func (s stateCollector) Collect(found chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeLimit)
	defer cancel()
	if totals, err := s.service.Totals(ctx); err == nil {
		var age time.Duration
		if totals.Locks > 0 {
			age = max(s.now().Sub(totals.Oldest), 0)
		}
		found <- prometheus.MustNewConstMetric(s.states, prometheus.GaugeValue, float64(totals.States))
		found <- prometheus.MustNewConstMetric(s.rewound, prometheus.GaugeValue, float64(totals.Rewound))
		found <- prometheus.MustNewConstMetric(s.locks, prometheus.GaugeValue, float64(totals.Locks))
		found <- prometheus.MustNewConstMetric(s.oldest, prometheus.GaugeValue, age.Seconds())
	}
	ended := s.service.Ended()
	found <- prometheus.MustNewConstMetric(s.ended, prometheus.CounterValue, float64(ended.TakenOver), "taken_over")
	found <- prometheus.MustNewConstMetric(s.ended, prometheus.CounterValue, float64(ended.Forced), "forced")
	found <- prometheus.MustNewConstMetric(s.ended, prometheus.CounterValue, float64(ended.OfRuns), "run")
}

// databaseCollector shows at each scrape how the embedded databases are.
type databaseCollector struct {
	databases                                       []vitals.Databases
	bytes, wal, waiting, commits, batches, failures *prometheus.Desc
}

func newDatabaseCollector(databases []vitals.Databases) databaseCollector {
	of := []string{"database"}
	return databaseCollector{
		databases: databases,
		bytes:     prometheus.NewDesc("holdfast_database_bytes", "Size of a database's file.", of, nil),
		wal:       prometheus.NewDesc("holdfast_database_wal_bytes", "Size of its write-ahead log.", of, nil),
		waiting:   prometheus.NewDesc("holdfast_database_waiting", "Writes that wait for their turn.", of, nil),
		commits: prometheus.NewDesc("holdfast_database_commit_seconds", "How long transactions took, their fsync included.",
			of, nil),
		batches: prometheus.NewDesc("holdfast_database_batch_writes", "How many writes shared a transaction.", of, nil),
		failures: prometheus.NewDesc("holdfast_database_failures_total", "Transactions that failed and were undone.", of,
			nil),
	}
}

// Describe implements prometheus.Collector.
func (d databaseCollector) Describe(descs chan<- *prometheus.Desc) {
	describe(descs, d.bytes, d.wal, d.waiting, d.commits, d.batches, d.failures)
}

// Collect implements prometheus.Collector.
func (d databaseCollector) Collect(found chan<- prometheus.Metric) {
	for _, some := range d.databases {
		all := some.Databases()
		for _, name := range slices.Sorted(maps.Keys(all)) {
			d.collect(found, name, all[name])
		}
	}
}

func (d databaseCollector) collect(found chan<- prometheus.Metric, name string, v vitals.Database) {
	found <- prometheus.MustNewConstMetric(d.bytes, prometheus.GaugeValue, float64(v.Bytes), name)
	found <- prometheus.MustNewConstMetric(d.wal, prometheus.GaugeValue, float64(v.WALBytes), name)
	found <- prometheus.MustNewConstMetric(d.waiting, prometheus.GaugeValue, float64(v.Waiting), name)
	found <- prometheus.MustNewConstHistogram(d.commits, v.Commits.Count, v.Commits.Sum, v.Commits.UpTo, name)
	found <- prometheus.MustNewConstHistogram(d.batches, v.Batches.Count, v.Batches.Sum, v.Batches.UpTo, name)
	found <- prometheus.MustNewConstMetric(d.failures, prometheus.CounterValue, float64(v.Failures), name)
}

func describe(to chan<- *prometheus.Desc, descs ...*prometheus.Desc) {
	for _, desc := range descs {
		to <- desc
	}
}
