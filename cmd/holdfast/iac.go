package main

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

func newIACCommand(a *app) *cobra.Command {
	group := newGroup("iac", "Show the runs of the partitions of enclaves")
	group.AddCommand(newIACRuns(a), newIACLogs(a))
	return group
}

func newIACRuns(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:     "runs ENCLAVE PARTITION",
		Short:   "List a partition's runs, the newest first",
		Long:    "List a partition's last 100 runs that have, or may have, changed something, the newest first.",
		Example: "  holdfast iac runs product-a-dev db\n  holdfast iac runs product-a-dev db --json | jq -r .id",
		Args:    cobra.ExactArgs(2),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		all, err := c.PartitionRuns(ctx, args[0], args[1])
		if err != nil {
			return err
		}
		if asJSON {
			for _, run := range all {
				if err := showJSON(a.stdout, run); err != nil {
					return err
				}
			}
			return nil
		}
		t := a.newTable(head{"RUN_ID", firm}, head{"OPERATION", firm}, head{"STATUS", firm}, head{"STARTED", firm},
			head{"DURATION", firm})
		for _, run := range all {
			t.add(run.ID, run.Operation, run.Status, showTime(run.StartedAt), durationOf(run, a.now()))
		}
		return t.show()
	})
	a.tableFlags(cmd, &asJSON)
	return cmd
}

// durationOf is how long a run took, or takes by now.
func durationOf(run api.IACRun, now time.Time) string {
	end := now
	if run.FinishedAt != nil {
		end = *run.FinishedAt
	}
	return max(end.Sub(run.StartedAt), 0).Round(100 * time.Millisecond).String()
}

func newIACLogs(a *app) *cobra.Command {
	var last, follow bool
	cmd := a.remote(&cobra.Command{
		Use:   "logs ENCLAVE PARTITION [RUN_ID]",
		Short: "Print what a partition's run has printed",
		Long: `Print all that the tool of a partition's run has printed: while it planned and, behind a line that says so, while it
applied. Sensitive values are masked. With --follow it goes on as the log grows.`,
		Example: "  holdfast iac logs product-a-dev db --last\n  holdfast iac logs product-a-dev db " + exampleRun,
		Args:    cobra.RangeArgs(2, 3),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		if last == (len(args) == 3) {
			return usagef("say which run: its RUN_ID, or --last")
		}
		id := client.LatestRun
		if len(args) == 3 {
			id = strings.ToUpper(args[2])
		}
		run, err := c.PartitionRun(ctx, args[0], args[1], id)
		if err != nil {
			return err
		}
		out := a.logWriter()
		if follow {
			return a.followPartition(ctx, c, run)
		}
		if !run.LogCut {
			_, err = io.WriteString(out, run.Log)
			return err
		}
		return a.wholeLog(ctx, c, run.ID, out)
	})
	cmd.Flags().BoolVar(&last, "last", false, "the newest run")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on as it grows")
	return cmd
}

const applyLine = "\n--- apply ---\n"

func (a *app) followPartition(ctx context.Context, c *client.Client, run api.IACRunLog) error {
	out, stage := a.logWriter(), ""
	return c.FollowPartitionRun(ctx, run.EnclaveID, run.PartitionID, run.ID, func(u client.RunUpdate) error {
		if u.Log == nil {
			return nil
		}
		if stage != u.Log.Stage && u.Log.Stage == "apply" {
			if _, err := io.WriteString(out, applyLine); err != nil {
				return err
			}
		}
		stage = u.Log.Stage
		_, err := out.Write(u.Log.Bytes)
		return err
	})
}

// wholeLog prints a log that is longer than one answer.
func (a *app) wholeLog(ctx context.Context, c *client.Client, id string, out io.Writer) error {
	for _, stage := range []string{"plan", "apply"} {
		if stage == "apply" {
			if _, err := io.WriteString(out, applyLine); err != nil {
				return err
			}
		}
		text, err := c.OpenRunLog(ctx, id, client.RunLogQuery{Stream: stage, Strip: true})
		if err != nil {
			return err
		}
		_, err = io.Copy(out, text)
		text.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
