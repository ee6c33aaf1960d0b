// Growth measures how a server behaves as it comes to hold more: more states, versions,
// organizations and uploads. It writes one line for each point and step as CSV, and goes on
// along a curve until its time is up. docs/performance.md says what the columns mean.
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

// options are what the command line says.
type options struct {
	binary, only, json string
	limit, duration    time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, readFlags()); err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
}

func readFlags() (o options) {
	flag.StringVar(&o.binary, "bin", "bin/holdfast", "the server's binary")
	flag.StringVar(&o.only, "only", "", "a regular expression for the curves to measure, such as 'states|versions'")
	flag.StringVar(&o.json, "json", "", "file to write everything to, as JSON")
	flag.DurationVar(&o.limit, "limit", 10*time.Minute, "for each curve; points beyond it are left out")
	flag.DurationVar(&o.duration, "duration", 3*time.Second, "of each measurement")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "growth: there are flags only, no %q\n", flag.Arg(0))
		os.Exit(2)
	}
	return o
}

// found is all that one run of the program has found.
type found struct {
	Machine local.Machine `json:"machine"`
	Points  []point       `json:"points"`
	// Cut names the curves that did not come to their end.
	Cut []string `json:"cut_short"`
}

func run(ctx context.Context, o options) error {
	wanted, err := o.check()
	if err != nil {
		return err
	}
	all := found{Machine: local.ThisMachine(), Points: []point{}, Cut: []string{}}
	fmt.Println(csvHeader)
	for _, c := range wanted {
		points, err := o.follow(ctx, c)
		all.Points = append(all.Points, points...)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			fmt.Fprintf(os.Stderr, "%s: no more points within %s\n", c.name, o.limit)
			all.Cut = append(all.Cut, c.name)
		} else if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if o.json == "" {
		return nil
	}
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(o.json, append(data, '\n'), 0o644)
}

// check returns the curves that are wanted, or what is wrong with the flags.
func (o options) check() (wanted []curve, err error) {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return nil, fmt.Errorf("-only: %w", err)
	}
	for _, c := range curves() {
		if only.MatchString(c.name) {
			wanted = append(wanted, c)
		}
	}
	if len(wanted) == 0 {
		return nil, fmt.Errorf("-only %q names no curve; the first is %q", o.only, curves()[0].name)
	}
	if o.limit <= 0 || o.duration <= 0 {
		return nil, errors.New("-limit and -duration are above 0")
	}
	return wanted, nil
}

// follow measures a curve's points, on an empty disk, until its time is up.
func (o options) follow(ctx context.Context, c curve) (points []point, err error) {
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	dir, err := os.MkdirTemp("", "holdfast-growth-")
	if err != nil {
		return nil, err
	}
	g := &growing{options: o, curve: c, dir: dir}
	defer func() { err = errors.Join(err, g.end(), os.RemoveAll(dir)) }()
	for _, x := range c.points {
		p, err := c.reach(ctx, g, x)
		if err != nil {
			return points, errors.Join(ctx.Err(), err)
		}
		p.Curve = c.name
		if p.X == 0 {
			p.X = x
		}
		p.print(os.Stdout)
		points = append(points, p)
	}
	return points, nil
}
