package main

import (
	"cmp"
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

func newStateListCommand(a *app) *cobra.Command {
	var prefix string
	var deleted, asJSON bool
	var limit int
	cmd := a.remote(&cobra.Command{
		Use:   "list",
		Short: "List states",
		Long: "List the organization's states by name, with what describes their newest versions, who\nholds their locks, " +
			"and how many open candidates they have. One that was never written is\nlisted as long as it has any.",
		Example: `  holdfast state list
  holdfast state list --prefix prod/ --deleted
  holdfast state list --json | jq -r 'select(.lock) | .name'
  holdfast state list --json | jq -r 'select(.open_candidates > 0) | .name'`,
		Args: cobra.NoArgs,
	}, func(ctx context.Context, c *client.Client, _ []string) error {
		q, columns := client.StatesQuery{Prefix: prefix, Limit: limit}, a.stateColumns()
		if deleted {
			q.Deleted = client.OnlyDeleted
			columns = append(columns,
				column[api.State]{"DELETED", firm, func(s api.State) string { return a.tableTimeOr(s.DeletedAt) }})
		}
		if err := checkLimit(limit); err != nil {
			return err
		}
		return showList(ctx, a, c.States(q), limit, asJSON, columns)
	})
	cmd.Flags().StringVar(&prefix, "prefix", "", "only those whose names begin so")
	cmd.Flags().BoolVar(&deleted, "deleted", false, "those that are deleted, instead of those that exist")
	addLimitFlag(cmd, &limit, 0)
	a.tableFlags(cmd, &asJSON)
	return cmd
}

func (a *app) stateColumns() []column[api.State] {
	of := func(show func(api.Version) string) func(api.State) string {
		return func(s api.State) string {
			if s.Version == nil {
				return "-"
			}
			return show(*s.Version)
		}
	}
	return []column[api.State]{
		{"NAME", always, func(s api.State) string { return s.Name }},
		{"VERSION", firm, of(func(v api.Version) string { return showNumber(v.Number) })},
		{"SERIAL", wide, of(func(v api.Version) string { return showNumber(v.Serial) })},
		{"RESOURCES", firm, of(resourcesOf)},
		{"SIZE", wide, of(func(v api.Version) string { return showSize(v.Size) })},
		{"UPDATED", firm, of(func(v api.Version) string { return a.tableTime(v.CreatedAt) })},
		{"BY", always, of(writerOf)},
		{"LOCKED BY", filled, lockedBy},
		{"CANDIDATES", filled, openCandidates},
	}
}

func lockedBy(s api.State) string {
	if s.Lock == nil {
		return ""
	}
	return cmp.Or(s.Lock.Who, s.Lock.KeyID)
}

// openCandidates is empty for most states, so that the others are seen.
func openCandidates(s api.State) string {
	if s.OpenCandidates == 0 {
		return ""
	}
	return strconv.Itoa(s.OpenCandidates)
}
