package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/bench"
)

// benchFlags are what the command line of bench says.
type benchFlags struct {
	clientFlags
	mixes, sizes     []string
	connections      []int
	duration, warmup time.Duration
	count            int64
	seed             uint64
	keys             string
	gzip, md5        bool
	keep, asJSON     bool
	withinLimits     bool
}

func newBenchCommand(a *app) *cobra.Command {
	var flags benchFlags
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure how fast a server is",
		Long: `Measure a server: connections that each do one thing after the other, check every byte
that comes back, and report how many operations ended in a second and how long they took.

  cycle   LOCK, GET, POST with the lock's ID, UNLOCK: what one apply does
  plan    LOCK, GET, UNLOCK
  read    GET
  upload  an upload of 100 instances; what was uploaded stays

Each connection has a state of its own, named bench-…, of realistic resources that change
from write to write. In the end, and when it is interrupted or fails, the states are deleted;
their versions stay in the store as long as those of other deleted states.

It asks first what the key's organization may do. Rate limits are made to stop what this does, so it
says which to raise for the time of it: limits.state_rate_limit and limits.rate_limit, or those of
the organization. With --within-limits it goes on all the same, and stops as soon as the server says
that less than a quarter is left: the organization's others are not kept out. There should also be
enough of limits.max_in_flight and limits.max_body_bytes. What is refused counts as an error.

` + clientHelp,
		Example: `  holdfast bench
  holdfast bench --mix cycle,read --size 10KB,1MB --connections 1,16,64 --json
  holdfast bench --mix upload --duration 30s --addr https://holdfast.example.com`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.bench(cmd.Context(), flags) },
	}
	flags.add(cmd)
	return cmd
}

func (f *benchFlags) add(cmd *cobra.Command) {
	f.clientFlags.add(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&f.mixes, "mix", []string{string(bench.Cycle)}, "cycle, plan, read, upload, or several")
	flags.StringSliceVar(&f.sizes, "size", []string{"100KB"}, "of a state, or several")
	flags.IntSliceVar(&f.connections, "connections", []int{16}, "how many at once, or several numbers")
	flags.DurationVar(&f.duration, "duration", 10*time.Second, "of each measurement, at most")
	flags.DurationVar(&f.warmup, "warmup", time.Second, "before each measurement, not counted")
	flags.Int64Var(&f.count, "count", 0, "operations of each measurement, at most (default: as many as there is time for)")
	flags.Uint64Var(&f.seed, "seed", 1, "of what is sent")
	flags.StringVar(&f.keys, "keys", "",
		"file of mode 0600 with a key in each line; connections take them in turn (default: all use the one key)")
	flags.BoolVar(&f.gzip, "gzip", false, "accept compressed answers")
	flags.BoolVar(&f.md5, "md5", false, "send Content-MD5, as Terraform does")
	flags.BoolVar(&f.withinLimits, "within-limits", false,
		"measure also where the organization's rate is limited, and stop while a quarter of it is left")
	flags.BoolVar(&f.keep, "keep", false, "leave the states where they are")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
}

func (a *app) bench(ctx context.Context, flags benchFlags) error {
	target, err := a.benchTarget(flags)
	if err != nil {
		return err
	}
	plans, err := flags.plans()
	if err != nil {
		return err
	}
	limited, err := a.checkLimits(ctx, target, plans, flags)
	if err != nil {
		return err
	}
	b := benching{a: a, flags: flags, target: target, sparing: limited}
	results := []bench.Result{}
	for _, o := range plans {
		result, err := b.measure(ctx, o)
		if err != nil {
			return err
		}
		results = append(results, result)
		if result.Spent {
			a.note("Stopped: less than a quarter of the organization's limit is left, for its others.")
			break
		}
	}
	return a.showBench(results, flags.asJSON)
}

// benching is one run of the command.
type benching struct {
	a       *app
	flags   benchFlags
	target  bench.Target
	sparing bool // an organization has a limit that is not to be used up
}

func (b benching) measure(ctx context.Context, o bench.Options) (result bench.Result, err error) {
	o.Name, o.Sparing = "bench-"+uuid.NewString(), b.sparing
	load, err := bench.Open(ctx, b.target, o)
	if err != nil {
		return bench.Result{}, err
	}
	defer load.Close()
	p := b.a.startProgress(fmt.Sprintf("%s, %s, %d connections", o.Mix, bench.SizeText(o.Size), o.Connections),
		"operation", b.flags.count)
	result, err = load.Run(ctx,
		bench.Window{Warmup: b.flags.warmup, Duration: b.flags.duration, Count: b.flags.count, Progress: p.add})
	p.end()
	if !b.flags.keep {
		// Also after an interrupt: nobody else would know what to delete.
		if left := load.Remove(context.WithoutCancel(ctx)); left != nil {
			err = errors.Join(err, fmt.Errorf("the states %s-… could not all be deleted: %w", o.Name, left))
		} else if ctx.Err() != nil {
			err = errors.New("interrupted; the states that it made are deleted")
		}
	}
	return result, err
}

func (a *app) showBench(results []bench.Result, asJSON bool) error {
	var err error
	if asJSON {
		err = printJSON(a.stdout, results)
	} else {
		err = bench.WriteTable(a.stdout, results)
	}
	if err != nil {
		return err
	}
	var failed int64
	for _, r := range results {
		failed += r.Failed()
		if r.Limited() {
			a.note("The server's limits were reached; `holdfast bench --help` says which to raise, or nothing " +
				"but them is measured.")
			break
		}
	}
	if failed > 0 {
		return fmt.Errorf("%s failed", counted(failed, "operation"))
	}
	return nil
}
