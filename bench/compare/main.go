// Compare measures a server and, in the same run and in turn with it, the least that can be
// done for the same answers: its floors. Both run as processes of their own, over loopback.
// docs/performance.md says what its figures mean.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"

	"github.com/holdfast/holdfast/bench/local"
)

// resultsPage is the page that has the markers, from the root of the repository.
const resultsPage = "docs/results.md"

// options are what the command line says.
type options struct {
	binary, only, json, docs string
	quick, shared, md5       bool
	runs                     int
	warmup, duration         time.Duration
	floor                    floorOptions
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, readFlags()); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func readFlags() (o options) {
	flag.StringVar(&o.binary, "bin", "bin/holdfast", "the server's binary")
	flag.StringVar(&o.only, "only", "", "a regular expression for the rows to measure, such as '^cycle 10 KB'")
	flag.StringVar(&o.json, "json", "", "file to write everything to, as JSON")
	flag.StringVar(&o.docs, "docs", "", "file whose section between the markers gets the table, such as "+resultsPage)
	flag.BoolVar(&o.quick, "quick", false,
		"one short run of each row that has a target: shows that all works, measures little")
	flag.BoolVar(&o.shared, "shared", false, "all connections belong to one organization")
	flag.BoolVar(&o.md5, "md5", false, "writes carry Content-MD5, as Terraform's do")
	flag.IntVar(&o.runs, "runs", 3, "how often each row is measured")
	flag.DurationVar(&o.warmup, "warmup", 500*time.Millisecond, "before each measurement")
	flag.DurationVar(&o.duration, "duration", 4*time.Second, "of each measurement")
	flag.StringVar(&o.floor.kind, "floor", "", "be a floor: "+fixedFloor+", "+durableFloor+" or "+uploadFloor+
		" (used by the program itself)")
	flag.IntVar(&o.floor.size, "floor-size", 0, "of the state that the fixed floor returns")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "compare: there are flags only, no %q\n", flag.Arg(0))
		os.Exit(2)
	}
	if o.quick {
		o.runs, o.warmup, o.duration = 1, 100*time.Millisecond, 500*time.Millisecond
	}
	return o
}

func run(ctx context.Context, o options) error {
	if o.floor.kind != "" {
		return serveFloor(ctx, o.floor)
	}
	wanted, err := o.check()
	if err != nil {
		return err
	}
	c, err := newComparison(o)
	if err != nil {
		return err
	}
	defer os.RemoveAll(c.dir)
	found := report{Machine: local.ThisMachine(), Version: c.version(ctx), Runs: o.runs, Seconds: o.duration.Seconds(),
		MD5: o.md5}
	for _, one := range wanted {
		outcome, err := c.measure(ctx, one)
		if err != nil {
			return fmt.Errorf("%s: %w", one, err)
		}
		fmt.Fprintln(os.Stderr, outcome.line())
		found.Rows = append(found.Rows, outcome)
	}
	return o.publish(found)
}

// check returns the rows that are wanted, or what is wrong with the flags: it would be a pity
// to learn that when all is measured.
func (o options) check() (wanted []row, err error) {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return nil, fmt.Errorf("-only: %w", err)
	}
	for _, one := range rows(o.shared) {
		if only.MatchString(one.String()) && (one.Target > 0 || !o.quick) {
			wanted = append(wanted, one)
		}
	}
	switch {
	case len(wanted) == 0:
		return nil, fmt.Errorf("-only %q names no row; the first is %q", o.only, rows(o.shared)[0])
	case o.runs < 1 || o.duration <= 0 || o.warmup < 0:
		return nil, errors.New("-runs is at least 1, -duration above 0, -warmup at least 0")
	case o.docs != "":
		_, _, err = readDocs(o.docs)
	}
	return wanted, err
}

// publish shows what was found, and writes it where the flags say.
func (o options) publish(found report) error {
	text := found.markdown()
	fmt.Print(text)
	if o.json != "" {
		data, err := json.MarshalIndent(found, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(o.json, append(data, '\n'), 0o644); err != nil {
			return err
		}
	}
	if o.docs != "" {
		return updateDocs(o.docs, text)
	}
	return nil
}
