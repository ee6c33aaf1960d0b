package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
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
	}, func(ctx context.Context, c *client.Client, _ []string) error {
		return showList(ctx, a, c.Locks(), 0, asJSON, a.lockColumns())
	})
	a.tableFlags(cmd, &asJSON)
	return cmd
}

func (a *app) lockColumns() []column[api.State] {
	now := a.now()
	of := func(show func(*api.Lock) string) func(api.State) string {
		return func(s api.State) string {
			if s.Lock == nil {
				return ""
			}
			return show(s.Lock)
		}
	}
	return []column[api.State]{
		{"STATE", always, func(s api.State) string { return s.Name }},
		{"HOLDER", always, of(func(l *api.Lock) string { return l.Who })},
		{"OPERATION", always, of(func(l *api.Lock) string { return l.Operation })},
		{"HELD FOR", firm, of(func(l *api.Lock) string { return showAge(l.Since, now) })},
		{"LAST SEEN", wide, of(func(l *api.Lock) string { return showAge(l.Seen, now) })},
		{"KEY", wide, of(func(l *api.Lock) string { return l.KeyID })},
		{"ID", always, of(func(l *api.Lock) string { return a.shortID(l.ID) })},
	}
}
