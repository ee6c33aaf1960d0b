package main

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

func newAuditCommand(a *app) *cobra.Command {
	cmd := newGroup("audit", "Look at who did what")
	cmd.AddCommand(newAuditListCommand(a), newAuditVerifyCommand(a), newAuditHeadCommand(a))
	return cmd
}

// auditFlags are what the command line of audit list says.
type auditFlags struct {
	action, state, key, since, until string
	limit                            int
	asJSON, asCEF                    bool
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
  holdfast audit list --limit 0 --json > audit.ndjson
  holdfast audit list --since 24h --limit 0 --cef | logger --server siem.example.com`,
		Args: cobra.NoArgs,
	}, func(ctx context.Context, c *client.Client, _ []string) error {
		events, err := flags.events(a, c)
		switch {
		case err != nil:
			return err
		case flags.asCEF:
			return showCEF(ctx, a.stdout, events)
		}
		return showList(ctx, a, events, flags.limit, flags.asJSON, a.eventColumns())
	})
	cmd.Flags().StringVar(&flags.action, "action", "", "only this, such as state.write, lock.force or access.refused")
	cmd.Flags().StringVar(&flags.state, "state", "", "only about this state")
	cmd.Flags().StringVar(&flags.key, "key", "", "only by the key of this ID")
	cmd.Flags().StringVar(&flags.since, "since", "", "then or later: RFC 3339, or how long ago, such as 24h or 7d")
	cmd.Flags().StringVar(&flags.until, "until", "", "before then: RFC 3339, or how long ago")
	addLimitFlag(cmd, &flags.limit, someLines)
	a.tableFlags(cmd, &flags.asJSON)
	cmd.Flags().BoolVar(&flags.asCEF, "cef", false, "print lines of the Common Event Format, for a SIEM system")
	cmd.MarkFlagsMutuallyExclusive("cef", "json")
	return cmd
}

func (f auditFlags) query(now time.Time) (q client.EventsQuery, err error) {
	q = client.EventsQuery{Action: f.action, State: f.state, KeyID: f.key, Limit: f.limit}
	if q.Since, err = parseMoment("since", f.since, now); err == nil {
		q.Until, err = parseMoment("until", f.until, now)
	}
	if err == nil {
		err = checkLimit(f.limit)
	}
	return q, err
}

func (a *app) eventColumns() []column[api.Event] {
	return []column[api.Event]{
		{"TIME", firm, func(e api.Event) string { return a.tableTime(e.At) }},
		{"ACTION", always, func(e api.Event) string { return e.Action }},
		{"STATE", filled, func(e api.Event) string { return e.State }},
		{"VERSION", filled, eventVersion},
		{"BY", always, func(e api.Event) string { return cmp.Or(e.Subject, e.KeyName, e.KeyID) }},
		{"FROM", wide, func(e api.Event) string { return e.Address }},
		{"NOTES", filled, eventNotes},
	}
}

func eventVersion(e api.Event) string {
	if e.Version == 0 {
		return ""
	}
	return showNumber(e.Version)
}

func eventNotes(e api.Event) string {
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

// events are the audit log's lines that the flags choose.
func (f auditFlags) events(a *app, c *client.Client) (*client.List[api.Event], error) {
	query, err := f.query(a.now())
	if err != nil {
		return nil, err
	}
	return c.Events(query), nil
}
