package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/printable"
)

// expectFlags are what the command line of expect says.
type expectFlags struct {
	emptied, shrunk   bool
	time              time.Duration
	reason            string
	list, end, asJSON bool
}

func newStateExpectCommand(a *app) *cobra.Command {
	var flags expectFlags
	cmd := a.remote(&cobra.Command{
		Use:   "expect NAME",
		Short: "Announce a destroy, so that no guard holds it",
		Long: `Announce that a state will be emptied, or become much smaller, so that a guard doesn't hold
what comes. It is good for one operation within the time: the writes under the lock with which it
was used first, until that is released. All else that a guard finds is still held. Who announced
what, and which write has used it, is in the audit log.

Without a flag it shows what is expected of a state; --list shows it of all states, and --end
takes it back.`,
		Example: `  holdfast state expect prod/network --emptied --for 1h --reason "the network moves to eu-2"
  holdfast state expect --list
  holdfast state expect prod/network --end`,
		Args: func(cmd *cobra.Command, args []string) error {
			if flags.list {
				return cobra.NoArgs(cmd, args)
			}
			return ofState(cobra.ExactArgs(1))(cmd, args)
		},
	}, func(ctx context.Context, c *client.Client, args []string) error {
		announces := flags.emptied || flags.shrunk
		switch {
		case flags.list && flags.end, announces && (flags.list || flags.end):
			return usagef("--list, --end and what is announced (--emptied, --shrunk) each stand alone")
		case flags.list:
			return showList(ctx, a, c.Expectations(), 0, flags.asJSON, a.expectationColumns())
		case flags.end:
			return a.unexpect(ctx, c, args[0], flags)
		case announces:
			return a.expect(ctx, c, args[0], flags)
		}
		return a.showExpected(ctx, c, args[0], flags.asJSON)
	})
	f := cmd.Flags()
	f.BoolVar(&flags.emptied, "emptied", false, "no resources will be left")
	f.BoolVar(&flags.shrunk, "shrunk", false, "fewer will be left than a guard lets pass")
	f.DurationVar(&flags.time, "for", time.Hour, "how long it may take until the operation has ended: 1m to 168h")
	f.BoolVar(&flags.list, "list", false, "show what is expected of all states")
	f.BoolVar(&flags.end, "end", false, "take it back")
	addReasonFlag(cmd, &flags.reason)
	a.addWideFlag(cmd)
	f.BoolVar(&flags.asJSON, "json", false, "print JSON; with --list, one line for each")
	return cmd
}

// findings are the names of what the flags announce.
func (f expectFlags) findings() (names []string) {
	if f.emptied {
		names = append(names, "emptied")
	}
	if f.shrunk {
		names = append(names, "shrunk")
	}
	return names
}

func (a *app) expect(ctx context.Context, c *client.Client, name string, flags expectFlags) error {
	reason, err := a.reason(ctx, flags.reason)
	if err != nil {
		return err
	}
	made, err := c.Expect(ctx, name, api.Expect{Findings: flags.findings(), For: flags.time.String(), Reason: reason})
	switch {
	case err != nil:
		return err
	case flags.asJSON:
		return showJSON(a.stdout, made)
	case made.Expectation == nil:
		return api.ErrForeign
	}
	_, err = fmt.Fprintf(a.stdout, "Until %s, no guard holds it when %s is %s, once.\n",
		showTime(made.Expectation.Until), name, printable.Text(strings.Join(made.Expectation.Findings, " or ")))
	return err
}

func (a *app) unexpect(ctx context.Context, c *client.Client, name string, flags expectFlags) error {
	ended, err := c.Unexpect(ctx, name, flags.reason)
	switch {
	case err != nil:
		return err
	case flags.asJSON:
		return showJSON(a.stdout, ended)
	case ended.Expectation == nil:
		_, err = fmt.Fprintf(a.stdout, "Nothing is expected of %s.\n", name)
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "It is no longer expected that %s is %s.\n", name,
		printable.Text(strings.Join(ended.Expectation.Findings, " or ")))
	return err
}

func (a *app) showExpected(ctx context.Context, c *client.Client, name string, asJSON bool) error {
	found, err := c.Expected(ctx, name)
	switch {
	case err != nil:
		return err
	case asJSON:
		return showJSON(a.stdout, found)
	case found.Expectation == nil:
		_, err = fmt.Fprintf(a.stdout, "Nothing is expected of %s; --emptied or --shrunk announces it.\n", name)
		return err
	}
	e := found.Expectation
	return a.showFacts([][2]string{
		{"expected", strings.Join(e.Findings, ", ")}, {"since", showTime(e.Since)}, {"until", showTime(e.Until)},
		{"by", announcerOf(e)},
		{"reason", e.Reason}, {"used under lock", e.LockID},
	})
}

func announcerOf(e *api.Expectation) string { return cmp.Or(e.Subject, e.KeyName, e.KeyID) }

func (a *app) expectationColumns() []column[api.State] {
	of := func(show func(*api.Expectation) string) func(api.State) string {
		return func(s api.State) string {
			if s.Expectation == nil {
				return ""
			}
			return show(s.Expectation)
		}
	}
	return []column[api.State]{
		{"STATE", always, func(s api.State) string { return s.Name }},
		{"EXPECTED", always, of(func(e *api.Expectation) string { return strings.Join(e.Findings, ", ") })},
		{"UNTIL", firm, of(func(e *api.Expectation) string { return a.tableTime(e.Until) })},
		{"BY", always, of(announcerOf)},
		{"REASON", always, of(func(e *api.Expectation) string { return e.Reason })},
	}
}
