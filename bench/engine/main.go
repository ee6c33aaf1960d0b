// Command engine measures the engine: a plan of many resources without changes, with a provider in memory and with a
// real one beside OpenTofu on the same configuration and state; the order of a large graph; and an apply of many
// independent resources against what their latency allows. Plans are made by processes of their own, whose peak memory
// is theirs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"time"
)

// options are what the command line says.
type options struct {
	binary, tofu, mirror string
	runs                 int
	resources, nodes     int
	objects              int
	latency              time.Duration
	parallelism          int
	child                string
}

func main() {
	var o options
	flag.StringVar(&o.binary, "bin", "bin/holdfast", "the binary that plans with a real provider")
	flag.StringVar(&o.tofu, "tofu", "", "OpenTofu's binary; without it the rows of a real provider are left out")
	flag.StringVar(&o.mirror, "mirror", "", "the folder with the provider hashicorp/time")
	flag.IntVar(&o.runs, "runs", 3, "how often each is measured; the middle one is shown")
	flag.IntVar(&o.resources, "resources", 10_000, "how many resources are planned")
	flag.IntVar(&o.nodes, "nodes", 100_000, "how many nodes the graph has")
	flag.IntVar(&o.objects, "objects", 1000, "how many objects are made")
	flag.DurationVar(&o.latency, "latency", 50*time.Millisecond, "how long each of them takes")
	flag.IntVar(&o.parallelism, "parallelism", 10, "how many are made at once")
	flag.StringVar(&o.child, "child", "", "plan the folder with the provider in memory, for this program itself")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	do := run
	if o.child != "" {
		do = func(ctx context.Context, o options) error { return planFake(ctx, o.child) }
	}
	if err := do(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench/engine:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if o.runs < 1 {
		return errors.New("-runs is at least 1")
	}
	fmt.Println("| what | figure | may be | within |\n|---|---|---|---|")
	for _, measure := range []func(context.Context, options) error{plans, realPlans, orders, applies} {
		if err := measure(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// row prints a figure and what it is held to.
func row(what, figure, limit string, within bool) {
	said := "yes"
	if !within {
		said = "no"
	}
	fmt.Printf("| %s | %s | %s | %s |\n", what, figure, limit, said)
}

// middle measures several times, and returns the figures in the middle of each.
func middle(runs int, measure func() (time.Duration, int64, error)) (time.Duration, int64, error) {
	var took []time.Duration
	var bytes []int64
	for range runs {
		d, n, err := measure()
		if err != nil {
			return 0, 0, err
		}
		took, bytes = append(took, d), append(bytes, n)
	}
	slices.Sort(took)
	slices.Sort(bytes)
	return took[runs/2], bytes[runs/2], nil
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }
