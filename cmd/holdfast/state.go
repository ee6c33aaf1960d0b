package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"
)

func newStateCommand(a *app) *cobra.Command {
	cmd := newGroup("state", "Look at states and their history, fetch, store, roll back and delete them")
	cmd.Long = "Look at an organization's states and their history, fetch and store them, roll them back,\ndelete them and bring them back. All of it asks a running server."
	cmd.AddCommand(newStateListCommand(a), newStateShowCommand(a), newStateVersionsCommand(a), newStateDiffCommand(a),
		newStateRollbackCommand(a), newStatePullCommand(a), newStatePushCommand(a), newStateRmCommand(a),
		newStateUndeleteCommand(a), newStateOutputsCommand(a))
	return cmd
}

// findState returns what describes a state, also when it is deleted or was only locked;
// nil when there is no such state.
func (c *client) findState(ctx context.Context, name string) (*stateFacts, error) {
	if _, err := ofState(name); err != nil {
		return nil, err
	}
	// Of all names that begin with this one it is the first.
	page, _, err := c.page(ctx, ask{path: "states", query: url.Values{"prefix": {name}, "deleted": {"any"}, "limit": {"1"}}}, list{member: "states"})
	if err != nil || len(page) == 0 {
		return nil, err
	}
	found, err := readFacts[stateFacts](page[0])
	if err != nil || found.Name != name {
		return nil, err
	}
	return &found, nil
}

// existing is findState for a state that must be there, and not deleted.
func (c *client) existing(ctx context.Context, name string) (*stateFacts, error) {
	found, err := c.findState(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case found == nil || found.Version == nil:
		return nil, fmt.Errorf("there is no state %s; `holdfast state list` shows those there are", name)
	case found.DeletedAt != nil:
		return nil, fmt.Errorf("state %s was deleted at %s; `holdfast state undelete %s` brings it back", name, showTime(*found.DeletedAt), name)
	}
	return found, nil
}

// called is how a version is named to people.
func (v versionFacts) called() string {
	return fmt.Sprintf("version %d (serial %d, %s, %s)", v.Number, v.Serial, countedOr(v.Resources, "resource"), showTime(v.CreatedAt))
}

func countedOr(n *int, what string) string {
	if n == nil {
		return "an unknown number of " + what + "s"
	}
	return counted(int64(*n), what)
}

// readVersion reads the number of a version from the command line.
func readVersion(text string) (uint64, error) {
	number, err := strconv.ParseUint(text, 10, 63)
	if err != nil || number == 0 {
		return 0, usagef("%.30q is not a version: a number of 1 or more", text)
	}
	return number, nil
}
