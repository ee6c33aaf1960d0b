package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/client"
)

const (
	tailPage     = 500         // records that are held at once
	tailFloor    = time.Second // the shortest interval
	tailPatience = time.Minute // the longest wait for a server that is away
)

// tailFlags are what the command line of tail says.
type tailFlags struct {
	filterFlags
	lines    int
	interval time.Duration
	asJSON   bool
}

func newDataTailCommand(a *app) *cobra.Command {
	var flags tailFlags
	cmd := a.remote(&cobra.Command{
		Use:   "tail",
		Short: "Show what is uploaded, as it comes",
		Long: `Show the newest records of one organization and then those that are recorded from now
on, until it is interrupted. It asks every few seconds, and goes on when the server was
away for a while: nothing is left out and nothing comes twice.`,
		Example: `  holdfast data tail
  holdfast data tail -n 100 --provider kubernetes
  holdfast data tail --since 1h --json | jq -r .data.resource_name`,
		Args: cobra.NoArgs,
	}, func(ctx context.Context, c *client.Client, _ []string) error { return a.tail(ctx, c, flags) })
	flags.add(cmd)
	cmd.Flags().IntVarP(&flags.lines, "lines", "n", 10,
		"begin with so many of the newest; with --since, with all since then")
	cmd.Flags().DurationVar(&flags.interval, "interval", 2*time.Second,
		"how long to wait between two questions, at least 1s")
	cmd.Flags().BoolVar(&flags.asJSON, "json", false, "print JSON lines, also on a terminal")
	a.addWideFlag(cmd)
	return cmd
}

func (a *app) tail(ctx context.Context, c *client.Client, flags tailFlags) error {
	query, err := flags.query(a.now())
	if err != nil {
		return err
	}
	if flags.lines < 0 || flags.interval < tailFloor {
		return usagef("--lines is at least 0, --interval at least %s", tailFloor)
	}
	t := &tailing{a: a, client: c.Once(), query: query, show: a.shower(flags.asJSON), interval: flags.interval}
	if err := t.show.begin(); err != nil {
		return err
	}
	err = t.follow(ctx, flags.lines)
	if ctx.Err() != nil {
		return nil // the only way out that is meant
	}
	return err
}
