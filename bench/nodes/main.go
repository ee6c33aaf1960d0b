// Nodes measures one, two and three nodes that share the database of DB_HOST: cycles and reads a
// second, of states of several sizes, by several numbers of clients, all nodes at once. It writes a
// table in Markdown. docs/scaling.md says what the columns mean.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/holdfast/holdfast/bench"
	"github.com/holdfast/holdfast/bench/local"
)

// options are what the command line says.
type options struct {
	binary   string
	duration time.Duration
	runs     int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var o options
	flag.StringVar(&o.binary, "bin", "bin/holdfast", "the server's binary")
	flag.DurationVar(&o.duration, "duration", 4*time.Second, "of each measurement")
	flag.IntVar(&o.runs, "runs", 3, "of each row; the median is shown")
	flag.Parse()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "nodes:", err)
		os.Exit(1)
	}
}

// organizations share the load, as they would.
const organizations = 16

func run(ctx context.Context, o options) (err error) {
	if os.Getenv("DB_HOST") == "" {
		return errors.New("there is no database: run it as scripts/mysql.sh go run ./bench/nodes")
	}
	dir, err := os.MkdirTemp("", "nodes")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	who, err := local.MakeOrganizations(filepath.Join(dir, "auth.cfg"), organizations, 0)
	if err != nil {
		return err
	}
	fmt.Println("| nodes | size | clients | cycles/s | reads/s | reads to cycles |\n|---|---|---|---|---|---|")
	for count := 1; count <= 3; count++ {
		if err := measure(ctx, o, dir, count, who); err != nil {
			return err
		}
	}
	return nil
}

// measure starts so many nodes and writes their rows.
func measure(ctx context.Context, o options, dir string, count int, who local.Organizations) (err error) {
	var nodes []*local.Process
	defer func() {
		for _, n := range nodes {
			err = errors.Join(err, n.Stop())
		}
	}()
	for i := range count {
		own := filepath.Join(dir, fmt.Sprintf("%d-of-%d", i+1, count))
		if err := os.Mkdir(own, 0o700); err != nil {
			return err
		}
		n, err := local.StartServer(ctx, o.binary, own, who, settings(dir, count)...)
		if err != nil {
			return err
		}
		nodes = append(nodes, n)
	}
	for _, size := range []int{10_000, 100_000, 1_000_000} {
		for _, clients := range []int{16, 64} {
			l := load{o, nodes, who, size, clients}
			cycles, err := l.median(ctx, bench.Cycle)
			if err != nil {
				return err
			}
			reads, err := l.median(ctx, bench.Read)
			if err != nil {
				return err
			}
			fmt.Printf("| %d | %d KB | %d | %.0f | %.0f | %.1f |\n", count, size/1000, clients, cycles, reads, reads/cycles)
		}
	}
	return nil
}

func settings(dir string, count int) []string {
	all := []string{"STATE_STORAGE=mysql", "HOLDFAST_RUNS_STORAGE=mysql", "STORAGE_TYPE=mysql",
		fmt.Sprint("HOLDFAST_NODES_COUNT=", count), "HOLDFAST_SEAL_MASTER_KEY_FILE=" + filepath.Join(dir, "master.key"),
		"DB_NAME=holdfast_bench_nodes"}
	for _, name := range []string{"DB_HOST", "DB_PORT", "DB_USER", "DB_PASSWORD"} {
		all = append(all, name+"="+os.Getenv(name))
	}
	return all
}

// load is what is asked of all nodes at once.
type load struct {
	options
	nodes         []*local.Process
	who           local.Organizations
	size, clients int
}

// median runs the load several times, and returns how many operations a second all nodes did.
func (l load) median(ctx context.Context, mix bench.Mix) (float64, error) {
	var all []float64
	for i := range l.runs {
		found, err := l.once(ctx, mix, i)
		if err != nil {
			return 0, err
		}
		all = append(all, found)
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}

// once divides the clients among the nodes.
func (l load) once(ctx context.Context, mix bench.Mix, number int) (perSecond float64, err error) {
	results, errs := make([]bench.Result, len(l.nodes)), make([]error, len(l.nodes))
	var all sync.WaitGroup
	for i, n := range l.nodes {
		all.Go(func() {
			connections := l.clients / len(l.nodes)
			if i < l.clients%len(l.nodes) {
				connections++
			}
			results[i], errs[i] = l.through(ctx, n, bench.Options{Mix: mix, Size: l.size, Connections: connections,
				Name: fmt.Sprintf("%s/%d-%d-%d-%d", mix, l.size, l.clients, number, i), Patient: true, MD5: true})
		})
	}
	all.Wait()
	for i, r := range results {
		perSecond += r.PerSecond
		if len(r.Errors) > 0 {
			errs[i] = errors.Join(errs[i], fmt.Errorf("%s: %v %v", mix, r.Errors, r.Examples))
		}
	}
	return perSecond, errors.Join(errs...)
}

func (l load) through(ctx context.Context, n *local.Process, o bench.Options) (r bench.Result, err error) {
	work, err := bench.Open(ctx, bench.Target{Address: n.URL, Identities: l.who.All}, o)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, work.Remove(context.WithoutCancel(ctx))); work.Close() }()
	return work.Run(ctx, bench.Window{Warmup: time.Second, Duration: l.duration})
}
