package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/printable"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/document"
)

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
	}, func(ctx context.Context, c *client.Client, args []string) error {
		if _, err := state.ParseName(inState); err != nil {
			return usagef("--state: %w", err)
		}
		if err := checkLimit(limit); err != nil {
			return err
		}
		return a.history(ctx, c.History(inState, args[0], limit), inState, args[0], limit, asJSON)
	})
	cmd.Flags().StringVar(&inState, "state", "", "the state that has it")
	addLimitFlag(cmd, &limit, someLines)
	addLinesFlag(cmd, &asJSON)
	return cmd
}

func (a *app) history(ctx context.Context, h *client.History, inState, address string, limit int, asJSON bool) error {
	steps, err := a.showSteps(h.All(ctx), asJSON)
	a.tellUnread(h.Unread)
	if err == nil && steps == 0 && !h.More() {
		a.note("No version of %s that can be read has %s.", inState, address)
	}
	a.sayMore(h.More(), limit)
	return err
}

func (a *app) showSteps(steps iter.Seq2[api.Step, error], asJSON bool) (n int, err error) {
	for step, err := range steps {
		switch {
		case err != nil:
		case asJSON:
			err = showJSON(a.stdout, step)
		default:
			err = a.showStep(step)
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func (a *app) showStep(step api.Step) error {
	head := versionCalled(step.Version)
	if by := writerOf(step.Version); by != "" {
		head += " by " + printable.Text(by)
	}
	lines := wrap("", wrapIndent, head, a.width())
	for i, line := range lines {
		lines[i] = a.paint(bold, line)
	}
	if _, err := fmt.Fprintln(a.stdout, strings.Join(lines, "\n")); err != nil {
		return err
	}
	changes, err := asDocument(step.Changes)
	if err != nil {
		return err
	}
	if err := changes.WriteText(a.stdout, a.paintAction); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout)
	return err
}

// asDocument returns changes as package document has them, which writes them as text. It has
// the same form in JSON.
func asDocument(changes []api.ResourceChange) (d document.Diff, err error) {
	raw, err := json.Marshal(changes)
	if err == nil {
		err = json.Unmarshal(raw, &d.Resources)
	}
	return d, err
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
func (a *app) tellUnread(unread []api.UnreadVersion) {
	for _, one := range unread {
		a.note("Version %d is not looked into: %s.", one.Version, whyUnread(one.Code))
	}
}
