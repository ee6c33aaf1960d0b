//go:build e2e

package test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage"
)

const (
	aloneTime  = 2 * time.Second
	besideTime = 4 * time.Second
	// So many requests of each kind are enough, and end a measurement before its time: the
	// 99th percentile of them is not the slowest of all. `make torture` takes the whole time.
	aloneEnough  = 150
	besideEnough = 300
	// slower is how many times longer than alone the 99th percentile may take.
	slower = 10
	// leastAlone is what counts as alone where it took less: on two cores, which clients and
	// server share, shorter times say more about the scheduler than about who is in the way.
	leastAlone = 5 * time.Millisecond
	// fairnessTries is how often a scenario is tried: times are of a machine that others use
	// too, and of ten kinds one is late by chance. Who is in the way makes the same kind late
	// at each try. What is not a time must hold at each try.
	fairnessTries = 3
)

// scenario is something that organizations share, and the worst that one of them does to it
// within its limits.
type scenario struct {
	shared  string
	environ []string
	// settings are lines for the noisy organization's section of auth.cfg.
	settings []string
	// prepare fills the stores before the server starts; nil is nothing.
	prepare func(*neighbours, *belowHTTP)
	// worst are what the noisy organization does at once, each until ctx ends.
	worst []worst
	// holds is asked while the worst goes on, about what no latency shows; nil is nothing.
	holds func(context.Context, *neighbours) error
}

// TestFairness has one organization do its worst to each thing that is shared, while another
// one goes on with its work: each of its requests succeeds, and none of its kinds of
// requests takes more than ten times as long as alone.
func TestFairness(t *testing.T) {
	suite.Deep(t)
	var all []*neighbours
	for _, s := range scenarios() {
		all = append(all, newNeighbours(t, s))
	}
	t.Run("prepare", func(t *testing.T) { // beside each other, before anything is measured
		for _, n := range all {
			t.Run(n.scenario.shared, func(t *testing.T) {
				t.Parallel()
				n.prepare(t)
			})
		}
	})
	for _, n := range all {
		t.Run(n.scenario.shared, n.run)
	}
}

func (n *neighbours) run(t *testing.T) {
	n.prepare(t) // which a pattern after -run may have left out
	n.t = t
	var late map[string]string // by kind
	for try := range fairnessTries {
		n.start() // with all that the noisy one's limits let it do
		now := n.scenario.try(n)
		n.stop()
		maps.DeleteFunc(now, func(kind, _ string) bool { _, before := late[kind]; return try > 0 && !before })
		late = now
		if len(late) == 0 || t.Failed() {
			break
		}
		t.Logf("late at each of %d tries: %v", try+1, late)
	}
	for kind, what := range late {
		t.Errorf("%s: %s", kind, what)
	}
}

// try returns the kinds of requests that took too long.
func (s scenario) try(n *neighbours) (late map[string]string) {
	late = map[string]string{}
	alone := n.quietWork(aloneTime, aloneEnough)
	ctx, stop := context.WithCancel(n.t.Context())
	var noise sync.WaitGroup
	for _, worst := range s.worst {
		noise.Go(func() { worst(ctx, n) })
	}
	beside := n.quietWork(besideTime, besideEnough)
	if s.holds != nil {
		if err := s.holds(ctx, n); err != nil {
			n.t.Error(err)
		}
	}
	stop()
	noise.Wait()
	for kind, got := range beside {
		base := max(alone[kind].at(0.99), leastAlone)
		n.t.Logf("%-8s alone: p99 %v of %d; beside: p50 %v, p99 %v, longest %v of %d, %s", kind,
			alone[kind].at(0.99), len(alone[kind].times), got.at(0.5), got.at(0.99), got.at(1), len(got.times), got)
		if got.status[http.StatusOK] != len(got.times) || len(got.times) == 0 {
			n.t.Errorf("%s: not all succeed: %s", kind, got)
		}
		if p99 := got.at(0.99); p99 > slower*base {
			late[kind] = fmt.Sprintf("the 99th percentile is %v; alone it is %v", p99, alone[kind].at(0.99))
		}
	}
	return late
}

// neighbours are two organizations on a server of their own.
type neighbours struct {
	t            *testing.T // the one that goes on at the moment
	scenario     scenario
	prepared     bool
	dir          string
	server       *server
	noisy, quiet *tenant
	told         chan struct{} // notices of the quiet one's
}

// newNeighbours makes the two and their server, which does not run yet. The noisy organization has the limits that
// every organization has; the quiet one works as fast as it can, so that there is enough of
// its work to measure.
func newNeighbours(t *testing.T, s scenario) *neighbours {
	dir := t.TempDir()
	tenants := addTenants(t, dir+"/auth.cfg", 2)
	n := &neighbours{t: t, scenario: s, dir: dir, noisy: tenants[0], quiet: tenants[1]}
	n.addSettings(n.quiet, "rate_limit = off", "state_rate_limit = off", "notify_url = "+n.listen())
	n.addSettings(n.noisy, s.settings...)
	n.server = newServer(dir, tenantsEnviron(dir, s.environ...))
	t.Cleanup(func() {
		n.t = t
		n.stop()
	})
	return n
}

// prepare fills the stores, once, while no server has them.
func (n *neighbours) prepare(t *testing.T) {
	t.Helper()
	if n.prepared || n.scenario.prepare == nil {
		return
	}
	n.t, n.prepared = t, true
	below := openBelowHTTP(t, n.dir)
	n.scenario.prepare(n, below)
	below.close(t)
}

// listen returns where the quiet organization is told what happened.
func (n *neighbours) listen() string {
	n.told = make(chan struct{}, 1)
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		select {
		case n.told <- struct{}{}:
		default: // somebody knows of one already
		}
	}))
	n.t.Cleanup(hook.Close)
	return hook.URL
}

// addSettings adds lines to an organization's section of auth.cfg.
func (n *neighbours) addSettings(o *tenant, lines ...string) {
	n.t.Helper()
	path, section := n.dir+"/auth.cfg", "["+o.id.String()+"]\n"
	file, err := os.ReadFile(path)
	if err != nil {
		n.t.Fatal(err)
	}
	changed := strings.Replace(string(file), section, section+strings.Join(append(lines, ""), "\n"), 1)
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		n.t.Fatal(err)
	}
}

func (n *neighbours) start() {
	n.t.Helper()
	if err := n.server.start(); err != nil {
		n.t.Fatal(err)
	}
	for i, o := range []*tenant{n.noisy, n.quiet} {
		o.base, o.http = n.server.url, clientFrom(n.t, fmt.Sprint("127.5.0.", i+1))
	}
	if err := n.indexed(); err != nil {
		n.t.Fatal(err)
	}
}

func (n *neighbours) stop() {
	if err := n.server.end(); err != nil {
		n.t.Errorf("%v\n%s", err, n.server.logTail(20))
	}
}

// belowHTTP are the stores while no server has them: what takes minutes over loopback takes
// seconds, through the same code.
type belowHTTP struct {
	states  *state.Service
	uploads *inventory.Service
	end     []io.Closer
}

func openBelowHTTP(t *testing.T, dir string) *belowHTTP {
	t.Helper()
	settings, err := configs.Load(configs.Sources{Environ: []string{"STORAGE_PATH=" + filepath.Join(dir, "data")}})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	opened, err := storage.RefuseMissing(settings, false)
	if err != nil {
		t.Fatal(err)
	}
	states, err := storage.OpenStates(t.Context(), settings, log)
	if err != nil {
		t.Fatal(err)
	}
	uploads, err := storage.OpenUploads(t.Context(), settings, log)
	if err != nil {
		t.Fatal(err)
	}
	if err := opened(); err != nil {
		t.Fatal(err)
	}
	return &belowHTTP{
		states:  state.NewService(states, state.DefaultPolicies{}, time.Now, log),
		uploads: inventory.NewService(uploads),
		end:     []io.Closer{uploads, states},
	}
}

func (b *belowHTTP) close(t *testing.T) {
	t.Helper()
	for _, one := range b.end {
		if err := one.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// each has many callers at once do one, so that they share commits.
func (b *belowHTTP) each(t *testing.T, count int, one func(i int) error) {
	t.Helper()
	const atOnce = 256
	var all sync.WaitGroup
	for worker := range atOnce {
		all.Go(func() {
			for i := worker; i < count; i += atOnce {
				if err := one(i); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

func ownerOf(org uuid.UUID) auth.Principal {
	return auth.Principal{Org: org, KeyID: "0f3a9c21d4e5", Grant: auth.Grant{Role: auth.Owner}, Address: "127.0.0.1",
		Request: "fairness"}
}
