package handlers

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast/holdfast/internal/vitals"
)

// Upkeep is what people have to renew. Times that nobody knows are zero.
type Upkeep struct {
	Backup      time.Time // when the last backup of the folder of all data was made
	Certificate time.Time // when the server's certificate expires
}

// standingCollector shows at each scrape what there is of runs and of what they come from and go to.
type standingCollector struct {
	count                                    func(context.Context) (vitals.Standing, error)
	ended                                    func() map[string]uint64
	now                                      func() time.Time
	runs, oldest, done, agents, pools        *prometheus.Desc
	troubled, layers, repositories, pullDesc *prometheus.Desc
}

func newStandingCollector(count func(context.Context) (vitals.Standing, error), ended func() map[string]uint64,
	now func() time.Time) standingCollector {
	return standingCollector{
		count: count, ended: ended, now: now,
		runs: prometheus.NewDesc("holdfast_runs", "Runs that have not ended.", []string{"status", "kind"}, nil),
		oldest: prometheus.NewDesc("holdfast_runs_oldest_seconds",
			"How long ago the oldest run that has not ended was asked for.", []string{"status"}, nil),
		done: prometheus.NewDesc("holdfast_runs_ended_total", "Runs that ended in this process.", []string{"status"}, nil),
		agents: prometheus.NewDesc("holdfast_agents", "Agents; silent are those that have no run and ask for none.",
			[]string{"state"}, nil),
		pools: prometheus.NewDesc("holdfast_pools", "Pools of agents; unserved are those without an agent that is alive.",
			[]string{"state"}, nil),
		troubled: prometheus.NewDesc("holdfast_workspaces_troubled", "Workspaces whose newest run has failed, or found drift.",
			[]string{"trouble"}, nil),
		layers: prometheus.NewDesc("holdfast_layers", "Layers by what they need.", []string{"state"}, nil),
		repositories: prometheus.NewDesc("holdfast_repositories", "Repositories by how their newest fetch went.",
			[]string{"state"}, nil),
		pullDesc: prometheus.NewDesc("holdfast_pull_requests", "Open pull requests by how the newest look at them went.",
			[]string{"state"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (s standingCollector) Describe(descs chan<- *prometheus.Desc) {
	describe(descs, s.runs, s.oldest, s.done, s.agents, s.pools, s.troubled, s.layers, s.repositories, s.pullDesc)
}

// Collect implements prometheus.Collector. A store that does not answer has no numbers.
func (s standingCollector) Collect(found chan<- prometheus.Metric) {
	ended := s.ended()
	for _, status := range slices.Sorted(maps.Keys(ended)) {
		found <- prometheus.MustNewConstMetric(s.done, prometheus.CounterValue, float64(ended[status]), status)
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeLimit)
	defer cancel()
	all, err := s.count(ctx)
	if err != nil {
		return
	}
	show := func(desc *prometheus.Desc, value int, labels ...string) {
		found <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value), labels...)
	}
	oldest := map[string]time.Time{}
	for _, some := range all.Runs {
		show(s.runs, some.Count, some.Status, some.Kind)
		if at, ok := oldest[some.Status]; !ok || some.Oldest.Before(at) {
			oldest[some.Status] = some.Oldest
		}
	}
	for _, status := range slices.Sorted(maps.Keys(oldest)) {
		found <- prometheus.MustNewConstMetric(s.oldest, prometheus.GaugeValue, max(s.now().Sub(oldest[status]).Seconds(), 0),
			status)
	}
	for _, state := range slices.Sorted(maps.Keys(all.Layers)) {
		show(s.layers, all.Layers[state], state)
	}
	show(s.agents, all.AgentsAlive, "alive")
	show(s.agents, all.AgentsSilent, "silent")
	show(s.pools, all.PoolsServed, "served")
	show(s.pools, all.PoolsUnserved, "unserved")
	show(s.troubled, all.Failed, "failed")
	show(s.troubled, all.Drifted, "drift")
	show(s.repositories, all.RepositoriesFetched, "fetched")
	show(s.repositories, all.RepositoriesFailing, "failing")
	show(s.pullDesc, all.PullsFine, "fine")
	show(s.pullDesc, all.PullsTroubled, "troubled")
}

// upkeepCollector shows what has to be renewed.
type upkeepCollector struct {
	upkeep              func() Upkeep
	now                 func() time.Time
	backup, certificate *prometheus.Desc
}

func newUpkeepCollector(upkeep func() Upkeep, now func() time.Time) upkeepCollector {
	return upkeepCollector{upkeep, now,
		prometheus.NewDesc("holdfast_backup_age_seconds", "How long ago the last backup was made.", nil, nil),
		prometheus.NewDesc("holdfast_certificate_expires_seconds", "How long the server's certificate is good for.", nil, nil)}
}

// Describe implements prometheus.Collector.
func (u upkeepCollector) Describe(descs chan<- *prometheus.Desc) {
	describe(descs, u.backup, u.certificate)
}

// Collect implements prometheus.Collector.
func (u upkeepCollector) Collect(found chan<- prometheus.Metric) {
	is := u.upkeep()
	if !is.Backup.IsZero() {
		found <- prometheus.MustNewConstMetric(u.backup, prometheus.GaugeValue, u.now().Sub(is.Backup).Seconds())
	}
	if !is.Certificate.IsZero() {
		found <- prometheus.MustNewConstMetric(u.certificate, prometheus.GaugeValue, is.Certificate.Sub(u.now()).Seconds())
	}
}
