package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

func newRunListCommand(a *app) *cobra.Command {
	var q client.RunsQuery
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "list",
		Short: "List runs, the newest first",
		Long:  "List the organization's runs, the newest first.",
		Example: `  holdfast run list
  holdfast run list --workspace prod/network --status awaiting_approval,orphaned
  holdfast run list --json | jq -r 'select(.status == "failed") | .id'`,
		Args: cobra.NoArgs,
	}, func(ctx context.Context, c *client.Client, _ []string) error {
		if err := checkLimit(q.Limit); err != nil {
			return err
		}
		return showList(ctx, a, c.Runs(q), q.Limit, asJSON, a.runColumns())
	})
	cmd.Flags().StringVar(&q.Workspace, "workspace", "", "only those of this workspace")
	cmd.Flags().StringSliceVar(&q.Status, "status", nil,
		"only those that are so, such as applying; several are apart by commas")
	cmd.Flags().StringVar(&q.Kind, "kind", "", "only plan, apply, destroy, refresh or drift")
	addLimitFlag(cmd, &q.Limit, 20)
	a.tableFlags(cmd, &asJSON)
	return cmd
}

func (a *app) runColumns() []column[api.Run] {
	return []column[api.Run]{
		{"RUN", firm, func(r api.Run) string { return r.ID }},
		{"WORKSPACE", always, func(r api.Run) string { return r.Workspace }},
		{"KIND", firm, func(r api.Run) string { return r.Kind }},
		{"STATUS", firm, func(r api.Run) string { return r.Status }},
		{"CHANGES", firm, changesOf},
		{"CREATED", wide, func(r api.Run) string { return showTime(r.CreatedAt) }},
		{"BY", wide, func(r api.Run) string { return whose(r.Trigger) }},
		{"WHY", filled, func(r api.Run) string { return strings.TrimSpace(r.Reason) }},
	}
}

// changesOf is short for what a plan changes; empty without a plan.
func changesOf(r api.Run) string {
	if r.Counts == nil {
		return ""
	}
	if !r.Counts.Any {
		return "none"
	}
	return "+" + strconv.Itoa(r.Counts.Add) + " ~" + strconv.Itoa(r.Counts.Change) + " -" + strconv.Itoa(r.Counts.Destroy)
}
