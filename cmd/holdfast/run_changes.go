package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/printable"
)

func newRunChangesCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.ofRun(&cobra.Command{
		Use:   "changes",
		Short: "Show what a run's plan changes",
		Long:  "Show what a run's plan changes. With --json, with all values but sensitive ones.",
		Example: `  holdfast run changes 01JD8X6Q4ZK4T1M5S0R9V7E2WB
  holdfast run changes 01JD8X6Q4ZK4T1M5S0R9V7E2WB --json | jq '.changes[].address'`,
	}, func(ctx context.Context, c *client.Client, id string) error {
		changes, err := c.RunChanges(ctx, id)
		if err != nil {
			return err
		}
		if asJSON {
			return showJSON(a.stdout, changes)
		}
		return a.showChanges(changes)
	})
	addJSONFlag(cmd, &asJSON)
	return cmd
}

// showChanges shows the changes of a plan, a line for each resource, and their counts.
func (a *app) showChanges(all api.RunChanges) error {
	var text strings.Builder
	for _, change := range all.Drift {
		fmt.Fprintf(&text, "  %s %s  (changed outside)\n", a.paint(yellow, " ≠ "), printable.Text(change.Address))
	}
	for _, change := range all.Changes {
		mark, colour := markOf(change.Actions)
		if mark == "" && change.Previous == "" && change.Import == "" {
			continue
		}
		fmt.Fprintf(&text, "  %s %s%s\n", a.paint(colour, fmt.Sprintf("%3s", mark)), printable.Text(change.Address),
			noteOf(change))
	}
	for _, output := range all.Outputs {
		if mark, colour := markOf(output.Actions); mark != "" {
			fmt.Fprintf(&text, "  %s output.%s\n", a.paint(colour, fmt.Sprintf("%3s", mark)), printable.Text(output.Name))
		}
	}
	if all.Cut {
		text.WriteString("  … and more, which is not kept\n")
	}
	text.WriteString(a.paint(bold, countsOf(all.Counts)) + "\n")
	_, err := fmt.Fprint(a.stdout, text.String())
	return err
}

// markOf is how the tools mark what a change does; empty for nothing.
func markOf(actions []string) (mark, colour string) {
	switch {
	case slices.Equal(actions, []string{"delete", "create"}):
		return "-/+", yellow
	case slices.Equal(actions, []string{"create", "delete"}):
		return "+/-", yellow
	case slices.Contains(actions, "create"):
		return "+", green
	case slices.Contains(actions, "delete"):
		return "-", red
	case slices.Contains(actions, "update"):
		return "~", yellow
	case slices.Contains(actions, "read"):
		return "<=", green
	case slices.Contains(actions, "forget"):
		return ".", yellow
	}
	return "", bold
}

// noteOf is what is out of the ordinary in a change.
func noteOf(c api.RunChange) string {
	var notes []string
	if c.Previous != "" {
		notes = append(notes, "was "+c.Previous)
	}
	if c.Import != "" {
		notes = append(notes, "imported")
	}
	if c.Deposed != "" {
		notes = append(notes, "deposed "+c.Deposed)
	}
	if len(c.Because) > 0 {
		notes = append(notes, "because of "+strings.Join(c.Because, ", "))
	}
	if len(notes) == 0 {
		return ""
	}
	return "  (" + printable.Text(strings.Join(notes, "; ")) + ")"
}

// countsOf is the line that ends a plan, as the tools have it.
func countsOf(n api.RunCounts) string {
	if !n.Any {
		return "No changes."
	}
	text := fmt.Sprintf("Plan: %d to add, %d to change, %d to destroy", n.Add, n.Change, n.Destroy)
	for _, more := range []struct {
		n    int
		what string
	}{{n.Import, "to import"}, {n.Move, "to move"}, {n.Forget, "to forget"}} {
		if more.n > 0 {
			text += fmt.Sprintf(", %d %s", more.n, more.what)
		}
	}
	if n.Outputs > 0 {
		text += ", " + counted(int64(n.Outputs), "output") + " to change"
	}
	return text + "."
}
