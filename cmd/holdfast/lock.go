package main

import (
	"context"

	"github.com/spf13/cobra"
)

func newLockCommand(a *app) *cobra.Command {
	cmd := newGroup("lock", "Look at locks, and release those that were left behind")
	cmd.AddCommand(newLockListCommand(a), newLockReleaseCommand(a))
	return cmd
}

func newLockListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "list",
		Short: "List the locks that are held",
		Long: `List the organization's held locks: who holds them, for what and for how long, and how
long ago the last request with the lock's ID came.`,
		Example: "  holdfast lock list\n  holdfast lock list --json | jq -r '.lock.info.Who'",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, c *client, _ []string) error {
		return showList(ctx, a, c, list{path: "locks", member: "states", cursor: "cursor"}, asJSON, a.lockColumns())
	})
	addLinesFlag(cmd, &asJSON)
	return cmd
}

func (a *app) lockColumns() []column[stateFacts] {
	now := a.now()
	of := func(show func(*lockFacts) string) func(stateFacts) string {
		return func(s stateFacts) string {
			if s.Lock == nil {
				return ""
			}
			return show(s.Lock)
		}
	}
	return []column[stateFacts]{
		{"STATE", func(s stateFacts) string { return s.Name }},
		{"HOLDER", of(func(l *lockFacts) string { return l.Who })},
		{"OPERATION", of(func(l *lockFacts) string { return l.Operation })},
		{"HELD FOR", of(func(l *lockFacts) string { return showAge(l.Since, now) })},
		{"LAST SEEN", of(func(l *lockFacts) string { return showAge(l.Seen, now) })},
		{"KEY", of(func(l *lockFacts) string { return l.KeyID })},
		{"ID", of(func(l *lockFacts) string { return l.ID })},
	}
}
