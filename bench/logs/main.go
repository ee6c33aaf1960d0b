// Command logs measures how fast a run's log comes to those who read it while it goes on: a line
// to each of 20 readers, and 100 MB to all of them. Beside it, in the same run and as a process of
// its own too, is the least that can be done: the same bytes, sent from memory by net/http.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// options are what the command line says.
type options struct {
	binary   string
	readers  int
	bytes    int64
	lines    int
	runs     int
	floor    bool
	pause    time.Duration
	lineGoal time.Duration
	rateGoal float64
}

func main() {
	var o options
	quick := false
	flag.StringVar(&o.binary, "bin", "bin/holdfast", "the server's binary")
	flag.IntVar(&o.readers, "readers", 20, "how many read the log")
	flag.Int64Var(&o.bytes, "bytes", 100_000_000, "of the large log")
	flag.IntVar(&o.lines, "lines", 500, "how many lines are timed")
	flag.IntVar(&o.runs, "runs", 3, "how often the large log is measured")
	flag.DurationVar(&o.pause, "pause", 20*time.Millisecond, "between two lines")
	flag.BoolVar(&quick, "quick", false, "a tenth of all: shows that it works, measures little")
	flag.BoolVar(&o.floor, "floor", false, "be the floor (used by the program itself)")
	flag.Parse()
	if quick {
		o.bytes, o.lines, o.runs = o.bytes/10, o.lines/10, 1
	}
	o.lineGoal, o.rateGoal = 200*time.Millisecond, 30
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	do := run
	if o.floor {
		do = serveFloor
	}
	if err := do(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench/logs:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp("", "holdfast-bench-logs")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := startServer(ctx, dir, o.binary)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.process.Stop()) }()
	floor, err := startFloor(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, floor.Stop()) }()
	fmt.Println("| log | readers | Holdfast | floor | target |\n|---|---|---|---|---|")
	least := target{floor.URL, floor.Usage, new(int)}
	if err := measureLines(ctx, o, s, least); err != nil {
		return err
	}
	return measureBytes(ctx, o, s, least)
}
