package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

func newStateCommand(a *app) *cobra.Command {
	cmd := newGroup("state", "Look at states and their history, fetch, store, roll back and delete them")
	cmd.Long = "Look at an organization's states and their history, fetch and store them, roll them back,\ndelete them " +
		"and bring them back. All of it asks a running server."
	cmd.AddCommand(newStateListCommand(a), newStateShowCommand(a), newStateVersionsCommand(a), newStateDiffCommand(a),
		newStateRollbackCommand(a), newStatePullCommand(a), newStatePushCommand(a), newStateRmCommand(a),
		newStateUndeleteCommand(a), newStateOutputsCommand(a), newStateBackendCommand(a), newStateExpectCommand(a))
	return cmd
}

// existing describes a state that must be there, and not deleted.
func existing(ctx context.Context, c *client.Client, name string) (*api.State, error) {
	found, err := c.FindState(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case found == nil || found.Version == nil:
		return nil, missingState(name)
	case found.DeletedAt != nil:
		return nil, said{
			text: fmt.Sprintf("state %s was deleted at %s; `holdfast state undelete %s` brings it back", name,
				showTime(*found.DeletedAt), name),
			cause: missingState(name),
		}
	}
	return found, nil
}

// readVersion reads the number of a version from the command line.
func readVersion(text string) (uint64, error) {
	number, err := strconv.ParseUint(text, 10, 63)
	if err != nil || number == 0 {
		return 0, usagef("%.30q is not a version: a number of 1 or more", text)
	}
	return number, nil
}
