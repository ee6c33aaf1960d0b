package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/client"
)

func newRunLogCommand(a *app) *cobra.Command {
	var stage string
	var follow bool
	q := client.RunLogQuery{}
	cmd := a.ofRun(&cobra.Command{
		Use:   "log",
		Short: "Show what a run's tool has printed",
		Long: `Show what a run's tool has printed while it planned or, with --stage apply, applied. Sensitive
values are masked. Colours are left out where stdout is no terminal. With --follow it goes on
as the log grows, also when the server was away for a while.`,
		Example: `  holdfast run log ` + exampleRun + `
  holdfast run log ` + exampleRun + ` --stage apply --follow`,
	}, func(ctx context.Context, c *client.Client, id string) error {
		if stage != "plan" && stage != "apply" {
			return usagef("--stage: it is plan or apply")
		}
		out := a.logWriter()
		if follow {
			return c.FollowRun(ctx, id, stage, func(u client.RunUpdate) error {
				if u.Log == nil {
					return nil
				}
				_, err := out.Write(u.Log.Bytes)
				return err
			})
		}
		q.Stream = stage
		text, err := c.OpenRunLog(ctx, id, q)
		if err != nil {
			return err
		}
		defer text.Close()
		_, err = io.Copy(out, text)
		return err
	})
	cmd.Flags().StringVar(&stage, "stage", "plan", "plan or apply")
	cmd.Flags().IntVar(&q.Attempt, "attempt", 0, "of this attempt (default: the newest)")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on as it grows")
	return cmd
}
