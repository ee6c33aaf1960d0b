package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

func newRunCommand(a *app) *cobra.Command {
	group := newGroup("run", "Plan and apply on the server or its agents")
	group.AddCommand(newRunStartCommand(a, planning()), newRunStartCommand(a, applying()),
		newRunStartCommand(a, destroying()),
		newRunListCommand(a), newRunShowCommand(a), newRunLogCommand(a), newRunChangesCommand(a),
		newRunInsightCommand(a), newRunEventsCommand(a),
		newRunOutputsCommand(a),
		newRunApproveCommand(a), newRunDenyCommand(a), newRunCancelCommand(a), newRunRetryCommand(a), newRunDiscardCommand(a),
		newRunResolveCommand(a))
	return group
}

// The statuses of runs that these commands look for.
const (
	runAwaiting  = "awaiting_approval"
	runConfirmed = "confirmed"
	runSucceeded = "succeeded"
	runOrphaned  = "orphaned"
)

// runEnded reports whether nothing follows a status.
func runEnded(status string) bool {
	return slices.Contains([]string{runSucceeded, "failed", "discarded", "stale", "cancelled"}, status)
}

// exitCode ends the program with a code, without an error to show.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// exitChanges is that of a plan with changes, as of -detailed-exitcode.
const exitChanges exitCode = 2

// codeOf returns the code that an error ends the program with, if it is one.
func codeOf(err error) (int, bool) {
	code, ok := errors.AsType[exitCode](err)
	return int(code), ok
}

// ofRun makes cmd one that is about a run: its first argument.
func (a *app) ofRun(cmd *cobra.Command,
	do func(ctx context.Context, c *client.Client, id string) error) *cobra.Command {
	cmd.Use += " RUN"
	cmd.Args = cobra.ExactArgs(1)
	return a.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		return do(ctx, c, strings.ToUpper(args[0]))
	})
}

// whose is who a person is, for people.
func whose(who api.Actor) string {
	switch {
	case who.Subject != "":
		return who.Subject
	case who.KeyName != "":
		return who.KeyName
	}
	return who.KeyID
}
