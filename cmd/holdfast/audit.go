package main

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func newAuditCommand(a *app) *cobra.Command {
	cmd := newGroup("audit", "Look at who did what")
	cmd.AddCommand(newAuditListCommand(a))
	return cmd
}

// auditFlags are what the command line of audit list says.
type auditFlags struct {
	action, state, key, since, until string
	limit                            int
	asJSON                           bool
}

func newAuditListCommand(a *app) *cobra.Command {
	var flags auditFlags
	cmd := a.remote(&cobra.Command{
		Use:   "list",
		Short: "List what was done, and what was refused",
		Long: `List the organization's audit log, the newest first: each change, and each refusal for
want of a right, with who it was and from where.`,
		Example: `  holdfast audit list --state prod/network
  holdfast audit list --action lock.force --since 7d
  holdfast audit list --limit 0 --json > audit.ndjson`,
		Args: cobra.NoArgs,
	}, func(ctx context.Context, c *client, _ []string) error {
		query, err := flags.values(a.now())
		if err != nil {
			return err
		}
		l := list{path: "audit", query: query, member: "events", cursor: "before", limit: flags.limit}
		return showList(ctx, a, c, l, flags.asJSON, eventColumns())
	})
	cmd.Flags().StringVar(&flags.action, "action", "", "only this, such as state.write, lock.force or access.refused")
	cmd.Flags().StringVar(&flags.state, "state", "", "only about this state")
	cmd.Flags().StringVar(&flags.key, "key", "", "only by the key of this ID")
	cmd.Flags().StringVar(&flags.since, "since", "", "then or later: RFC 3339, or how long ago, such as 24h or 7d")
	cmd.Flags().StringVar(&flags.until, "until", "", "before then: RFC 3339, or how long ago")
	addLimitFlag(cmd, &flags.limit, someLines)
	addLinesFlag(cmd, &flags.asJSON)
	return cmd
}

func (f auditFlags) values(now time.Time) (url.Values, error) {
	values := url.Values{}
	for name, value := range map[string]string{"action": f.action, "state": f.state, "key": f.key} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if err := setMoments(values, now, map[string]string{"since": f.since, "until": f.until}); err != nil {
		return nil, err
	}
	return values, checkLimit(f.limit)
}

func eventColumns() []column[eventFacts] {
	return []column[eventFacts]{
		{"TIME", func(e eventFacts) string { return showTime(e.At) }},
		{"ACTION", func(e eventFacts) string { return e.Action }},
		{"STATE", func(e eventFacts) string { return e.State }},
		{"VERSION", eventFacts.version},
		{"BY", func(e eventFacts) string { return firstOf(e.Subject, e.KeyName, e.KeyID) }},
		{"FROM", func(e eventFacts) string { return e.Address }},
		{"NOTES", eventFacts.notes},
	}
}

func (e eventFacts) version() string {
	if e.Version == 0 {
		return ""
	}
	return strconv.FormatUint(e.Version, 10)
}

func (e eventFacts) notes() string {
	var notes []string
	if e.Refused != "" {
		notes = append(notes, "refused: "+e.Refused)
	}
	if e.Note != "" {
		notes = append(notes, e.Note)
	}
	if e.Reason != "" {
		notes = append(notes, strconv.Quote(e.Reason))
	}
	return strings.Join(notes, ", ")
}
