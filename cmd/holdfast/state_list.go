package main

import (
	"context"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"
)

func newStateListCommand(a *app) *cobra.Command {
	var prefix string
	var deleted, asJSON bool
	var limit int
	cmd := a.remote(&cobra.Command{
		Use:   "list",
		Short: "List states",
		Long:  "List the organization's states by name, with what describes their newest versions, who\nholds their locks, and how many open candidates they have. One that was never written is\nlisted as long as it has any.",
		Example: `  holdfast state list
  holdfast state list --prefix prod/ --deleted
  holdfast state list --json | jq -r 'select(.lock) | .name'
  holdfast state list --json | jq -r 'select(.open_candidates > 0) | .name'`,
		Args: cobra.NoArgs,
	}, func(ctx context.Context, c *client, _ []string) error {
		query := url.Values{}
		if prefix != "" {
			query.Set("prefix", prefix)
		}
		columns := stateColumns()
		if deleted {
			query.Set("deleted", "true")
			columns = append(columns, column[stateFacts]{"DELETED", stateFacts.deleted})
		}
		if err := checkLimit(limit); err != nil {
			return err
		}
		return showList(ctx, a, c, list{path: "states", query: query, member: "states", cursor: "cursor", limit: limit}, asJSON, columns)
	})
	cmd.Flags().StringVar(&prefix, "prefix", "", "only those whose names begin so")
	cmd.Flags().BoolVar(&deleted, "deleted", false, "those that are deleted, instead of those that exist")
	addLimitFlag(cmd, &limit, 0)
	addLinesFlag(cmd, &asJSON)
	return cmd
}

func stateColumns() []column[stateFacts] {
	of := func(show func(versionFacts) string) func(stateFacts) string {
		return func(s stateFacts) string {
			if s.Version == nil {
				return "-"
			}
			return show(*s.Version)
		}
	}
	return []column[stateFacts]{
		{"NAME", func(s stateFacts) string { return s.Name }},
		{"VERSION", of(func(v versionFacts) string { return strconv.FormatUint(v.Number, 10) })},
		{"SERIAL", of(func(v versionFacts) string { return strconv.FormatUint(v.Serial, 10) })},
		{"RESOURCES", of(versionFacts.resources)},
		{"SIZE", of(func(v versionFacts) string { return showSize(v.Size) })},
		{"UPDATED", of(func(v versionFacts) string { return showTime(v.CreatedAt) })},
		{"BY", of(versionFacts.by)},
		{"LOCKED BY", stateFacts.lockedBy},
		{"CANDIDATES", stateFacts.open},
	}
}

func (s stateFacts) lockedBy() string {
	if s.Lock == nil {
		return ""
	}
	return firstOf(s.Lock.Who, s.Lock.KeyID)
}

// open is empty for most states, so that the others are seen.
func (s stateFacts) open() string {
	if s.Open == 0 {
		return ""
	}
	return strconv.Itoa(s.Open)
}

func (s stateFacts) deleted() string {
	if s.DeletedAt == nil {
		return ""
	}
	return showTime(*s.DeletedAt)
}
