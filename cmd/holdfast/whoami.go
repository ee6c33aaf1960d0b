package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

func newWhoamiCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "whoami",
		Short: "Show whom a key stands for, and what it may do",
		Long: `Ask a server whom the key in use stands for, what it may do, until when, and from which
address the server sees the request come.`,
		Example: `  holdfast whoami
  holdfast whoami --json | jq -r .role
  holdfast whoami --addr https://holdfast.example.com --credentials ~/.holdfast`,
		Args: cobra.NoArgs,
	}, func(ctx context.Context, c *client.Client, _ []string) error {
		who, err := c.Whoami(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			return showJSON(a.stdout, who)
		}
		return a.showIdentity(who)
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the server's answer")
	a.addWideFlag(cmd)
	return cmd
}

func (a *app) showIdentity(i api.Identity) error {
	states, expires := "all", "never"
	if i.States != nil {
		states = strings.Join(i.States, ", ")
	}
	if i.Expires != nil {
		expires = i.Expires.Format(time.RFC3339Nano)
	}
	return a.showFacts([][2]string{
		{"organization", named(i.OrgID.String(), i.OrgName)},
		{"key", named(i.KeyID, i.KeyName)},
		{"subject", i.Subject},
		{"role", i.Role},
		{"rights", strings.Join(i.Rights, ", ")},
		{"states", states},
		{"expires", expires},
		{"uploads and data", limit(i.Limits.Requests, i.Limits.RequestsLeft)},
		{"state requests", limit(i.Limits.States, i.Limits.StatesLeft) + saved(i.Limits.OperationsLeft)},
		{"shared by", sharing(i.Limits.Nodes)},
		{"stored", stored(i)},
		{"runs' files", showShare(i.Runs, func(r api.RunStanding) *api.Share { return &r.Files }, showSize)},
		{"configurations", showShare(i.Runs, func(r api.RunStanding) *api.Share { return r.Configurations }, showSize)},
		{"runs on record", showShare(i.Runs, func(r api.RunStanding) *api.Share { return &r.Recorded }, showCount)},
		{"runs waiting", showShare(i.Runs, func(r api.RunStanding) *api.Share { return &r.Waiting }, showCount)},
		{"runs at work", showShare(i.Runs, func(r api.RunStanding) *api.Share { return &r.Working }, showCount)},
		{"address", i.Address},
	})
}

// sharing is empty for a server that has its limits to itself.
func sharing(nodes int) string {
	if nodes < 2 {
		return ""
	}
	return fmt.Sprintf("%d nodes; what is left is left on the one that answered", nodes)
}

// stored is empty for a server that says nothing of it.
func stored(i api.Identity) string {
	switch {
	case i.Quota == nil:
		return ""
	case i.Quota.Limit == nil:
		return showSize(i.Quota.Used)
	}
	return showSize(i.Quota.Used) + " of " + showSize(*i.Quota.Limit)
}

// showShare is empty for a server that says nothing of runs, or not of this.
func showShare(all *api.RunStanding, of func(api.RunStanding) *api.Share, show func(int64) string) string {
	if all == nil {
		return ""
	}
	share := of(*all)
	if share == nil {
		return ""
	}
	return show(share.Used) + " of " + show(share.Limit)
}

func showCount(n int64) string { return strconv.FormatInt(n, 10) }

func named(id, name string) string {
	if name == "" {
		return id
	}
	return id + " (" + name + ")"
}

func limit(perMinute, left *int) string {
	switch {
	case perMinute == nil:
		return "not limited"
	case left == nil:
		return fmt.Sprintf("%d a minute", *perMinute)
	}
	return fmt.Sprintf("%d a minute, %d left now", *perMinute, *left)
}

// saved is empty where nothing is.
func saved(operations *int) string {
	if operations == nil || *operations == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d reads and locks", *operations)
}
