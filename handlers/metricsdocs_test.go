package handlers_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/uuid"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/holdfast/holdfast/auth/verify"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/internal/runworld"
	"github.com/holdfast/holdfast/internal/vitals"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/quota"
	"github.com/holdfast/holdfast/seal/sealtest"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/sqlite"
)

// watchedDeps has all that there are metrics of.
func watchedDeps(t *testing.T) handlers.Deps {
	t.Helper()
	deps := testDeps(t)
	store, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir(), Master: sealtest.Master()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	deps.States = state.NewService(store, state.DefaultPolicies{}, deps.Now, deps.Log)
	deps.Databases = []vitals.Databases{store}
	deps.Notices = func() handlers.NoticeCounts { return handlers.NoticeCounts{Dropped: 3} }
	deps.Inventory = inventory.NewService(ailing{fault: fault.New(fault.StoreDegraded, "behind")})
	deps.Runs = runworld.New(t).Service
	deps.Standing = func(context.Context) (vitals.Standing, error) {
		return vitals.Standing{Runs: []vitals.Runs{{Status: "pending", Kind: "apply", Count: 1, Oldest: deps.Now()}},
			Layers: map[string]int{"Idle": 1}}, nil
	}
	deps.Upkeep = func() handlers.Upkeep { return handlers.Upkeep{Backup: deps.Now(), Certificate: deps.Now()} }
	deps.Connections = middleware.NewConnections(middleware.ConnectionLimits{Total: 10})
	deps.Quota = quota.New(quota.Options{Free: func() (int64, error) { return 1 << 30, nil }, Now: deps.Now, Log: deps.Log,
		Limit: func(uuid.UUID) int64 { return quota.None }})
	verifier, err := verify.New(verify.Config{Logger: deps.Log})
	if err != nil {
		t.Fatal(err)
	}
	deps.Verifier = verifier
	return deps
}

// families are what a scrape has, by their names.
func families(t *testing.T, deps handlers.Deps) map[string]*dto.MetricFamily {
	t.Helper()
	c := newCaller(t, startServer(t, deps), uuid.Nil, "")
	c.do("GET /metrics", "") // so that there is a route
	parser := expfmt.NewTextParser(model.LegacyValidation)
	all, err := parser.TextToMetricFamilies(strings.NewReader(c.do("GET /metrics", "").body))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// labelsOf are the names of a family's labels.
func labelsOf(family *dto.MetricFamily) []string {
	names := map[string]bool{}
	for _, metric := range family.GetMetric() {
		for _, label := range metric.GetLabel() {
			names[label.GetName()] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// TestMetricsAreDocumented compares the table of metrics with a scrape.
func TestMetricsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/operating-metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	type row struct{ kind, unit, labels, meaning string }
	documented := map[string]row{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(holdfast_[a-z_]+)` \\| ([^|]*) \\| ([^|]*?) ?\\| ([^|]*?) "+
		"?\\| (.+) \\|$").FindAllStringSubmatch(string(page), -1) {
		documented[m[1]] = row{m[2], m[3], m[4], m[5]}
	}
	all := families(t, watchedDeps(t))
	for name, family := range all {
		if !strings.HasPrefix(name, "holdfast_") {
			continue
		}
		row, ok := documented[name]
		if !ok {
			t.Errorf("%s is in no line of the table", name)
			continue
		}
		var labels []string
		for _, label := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(row.labels, -1) {
			labels = append(labels, label[1])
		}
		slices.Sort(labels)
		if kind := strings.ToLower(family.GetType().String()); row.kind != kind || !slices.Equal(labels, labelsOf(family)) ||
			row.meaning == "" {
			t.Errorf("%s is a %s with %v; the table says %+v", name, kind, labelsOf(family), row)
		}
		if strings.HasSuffix(name, "_seconds") != (row.unit == "seconds") ||
			strings.HasSuffix(name, "_bytes") != (row.unit == "bytes") {
			t.Errorf("%s has the unit %q", name, row.unit)
		}
	}
	for name := range documented {
		if all[name] == nil {
			t.Errorf("%s is documented, and in no scrape", name)
		}
	}
}

// wantExpression holds an expression to what a scrape has.
func wantExpression(t *testing.T, all map[string]*dto.MetricFamily, expression string) {
	t.Helper()
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(strings.ReplaceAll(expression, "$__rate_interval", "5m"))
	if err != nil {
		t.Errorf("%s: %v", expression, err)
		return
	}
	found := 0
	var known []string // labels
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		selector, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		found++
		family, suffix := all[selector.Name], ""
		for _, suffix = range []string{"_bucket", "_sum", "_count"} {
			if family == nil && strings.HasSuffix(selector.Name, suffix) {
				if family = all[strings.TrimSuffix(selector.Name, suffix)]; family.GetType() != dto.MetricType_HISTOGRAM {
					family = nil
				}
			}
		}
		if family == nil && selector.Name != "up" { // which Prometheus makes
			t.Errorf("%s: there is no %s", expression, selector.Name)
		}
		known = append(known, "__name__", "instance", "job", "le")
		known = append(known, labelsOf(family)...)
		for _, matcher := range selector.LabelMatchers {
			if !slices.Contains(known, matcher.Name) {
				t.Errorf("%s: %s has no label %s", expression, selector.Name, matcher.Name)
			}
		}
		return nil
	})
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if aggregate, ok := node.(*parser.AggregateExpr); ok {
			for _, label := range aggregate.Grouping {
				if !slices.Contains(known, label) {
					t.Errorf("%s: nothing has a label %s", expression, label)
				}
			}
		}
		return nil
	})
	if found == 0 {
		t.Errorf("%s looks at nothing", expression)
	}
}

// TestDashboardIsOfOurMetrics reads the dashboard: each of its expressions is one, and of metrics
// that there are, and each metric is shown.
func TestDashboardIsOfOurMetrics(t *testing.T) {
	var dashboard struct {
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	file, err := os.ReadFile("../docs/grafana/holdfast.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(file, &dashboard); err != nil {
		t.Fatal(err)
	}
	all, ids := families(t, watchedDeps(t)), map[int]bool{}
	for _, panel := range dashboard.Panels {
		if ids[panel.ID] || panel.Title == "" || panel.GridPos.X+panel.GridPos.W > 24 {
			t.Errorf("panel %+v", panel)
		}
		ids[panel.ID] = true
		for _, target := range panel.Targets {
			wantExpression(t, all, target.Expr)
		}
	}
	for name := range all {
		if strings.HasPrefix(name, "holdfast_") && !strings.Contains(string(file), name) {
			t.Errorf("no panel shows %s", name)
		}
	}
}

// TestAlertsAreOfOurMetrics does so with the alerts.
func TestAlertsAreOfOurMetrics(t *testing.T) {
	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	file, err := os.ReadFile("../docs/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalWithOptions(file, &rules, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	all, names := families(t, watchedDeps(t)), map[string]bool{}
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			if names[rule.Alert] || rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" ||
				rule.Annotations["do"] == "" {
				t.Errorf("%+v: one of a kind, with severity, summary and what to do?", rule)
			}
			if _, err := model.ParseDuration(rule.For); rule.For != "" && err != nil {
				t.Errorf("%s: %v", rule.Alert, err)
			}
			names[rule.Alert] = true
			wantExpression(t, all, rule.Expr)
		}
	}
	if len(names) < 10 {
		t.Errorf("%d alerts", len(names))
	}
}

// TestAlertsSayWhatIsAbsent: a comparison says nothing where a metric is not sent, so one that may be absent needs an
// alert of that too.
func TestAlertsSayWhatIsAbsent(t *testing.T) {
	file, err := os.ReadFile("../docs/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	deps := watchedDeps(t)
	all := families(t, deps)
	deps.Upkeep = func() handlers.Upkeep { return handlers.Upkeep{} }
	deps.Standing = func(context.Context) (vitals.Standing, error) { return vitals.Standing{}, nil }
	fresh := families(t, deps)
	// There is nothing to say where nothing is served by TLS, and where there are no runs and no layers.
	fine := []string{"holdfast_certificate_expires_seconds", "holdfast_runs", "holdfast_runs_oldest_seconds",
		"holdfast_layers"}
	absent := 0
	for name := range all {
		if fresh[name] != nil || slices.Contains(fine, name) || !strings.Contains(string(file), name) {
			continue
		}
		absent++
		if !regexp.MustCompile(`unless on \(\w+\) ` + name + `\b`).Match(file) {
			t.Errorf("%s is not sent by a server that is new, and no alert says so", name)
		}
	}
	if absent == 0 {
		t.Error("all metrics are sent by a server that is new")
	}
}
