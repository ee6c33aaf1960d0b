package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/state/document"
)

// stepFacts are a version in which a resource changed.
type stepFacts struct {
	Version versionFacts
	Changes []document.ResourceChange
}

func newResourceHistoryCommand(a *app) *cobra.Command {
	var inState string
	var limit int
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "history ADDRESS",
		Short: "Show every version in which a resource changed",
		Long: `Show every version of a state in which a resource changed, the newest first: who changed
what, and when. A resource that was moved is followed to where it was before. Sensitive
values are masked.`,
		Example: `  holdfast resource history 'aws_instance.web[0]' --state prod/network
  holdfast resource history aws_vpc.main --state prod/network --json | jq .version.who`,
		Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, c *client, args []string) error {
		if _, err := ofState(inState); err != nil {
			return usagef("--state: %w", err)
		}
		if err := checkLimit(limit); err != nil {
			return err
		}
		l := list{
			path: "resources/" + pathSegment(args[0]) + "/history", query: url.Values{"state": {inState}},
			member: "history", cursor: "cursor", limit: limit, look: a.tellUnread,
		}
		show, steps := a.showStep, 0
		if asJSON {
			show = lineShower{a.stdout}.record
		}
		more, err := c.each(ctx, l, func(step json.RawMessage) error {
			steps++
			return show(step)
		})
		if err == nil && steps == 0 && !more {
			fmt.Fprintf(a.stderr, "No version of %s that can be read has %s.\n", printable(inState), printable(args[0]))
		}
		if more {
			fmt.Fprintf(a.stderr, "There are more than these %d; --limit 0 shows all.\n", limit)
		}
		return err
	})
	cmd.Flags().StringVar(&inState, "state", "", "the state that has it")
	addLimitFlag(cmd, &limit, someLines)
	addLinesFlag(cmd, &asJSON)
	return cmd
}

func (a *app) showStep(raw json.RawMessage) error {
	step, err := readFacts[stepFacts](raw)
	if err != nil {
		return err
	}
	head := step.Version.called()
	if by := step.Version.by(); by != "" {
		head += " by " + printable(by)
	}
	if _, err := fmt.Fprintln(a.stdout, a.paint(bold, head)); err != nil {
		return err
	}
	changes := document.Diff{Resources: step.Changes}
	if err := changes.WriteText(a.stdout, a.paintAction); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout)
	return err
}

// paintAction colours what a diff says by what happened.
func (a *app) paintAction(action document.Action, text string) string {
	switch action {
	case document.Added:
		return a.paint(green, text)
	case document.Removed:
		return a.paint(red, text)
	}
	return a.paint(yellow, text)
}

// tellUnread warns people of versions that could not be looked into.
func (a *app) tellUnread(answer map[string]json.RawMessage) {
	var unread []struct {
		Version uint64
		Code    string
	}
	_ = json.Unmarshal(answer["unread"], &unread) // what a server doesn't say is not shown
	for _, one := range unread {
		fmt.Fprintf(a.stderr, "Version %d is not looked into: %s.\n", one.Version, whyUnread(one.Code))
	}
}
