package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/printable"
)

func newCandidateAddCommand(a *app) *cobra.Command {
	var reason string
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "add NAME FILE",
		Short: "Keep a file as a candidate",
		Long: `Keep a file, such as the errored.tfstate of an apply that could not store its state, so
that it is safe until somebody decides on it. No lock is needed, and the state stays as it
is. FILE is - for stdin.`,
		Example: `  holdfast candidate add prod/network errored.tfstate --reason "runner 12 lost its lock"`,
		Args:    ofState(cobra.ExactArgs(2)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		body, err := a.readBody(args[1])
		if err != nil {
			return err
		}
		sent, end := a.sending(body)
		defer end()
		made, err := c.AddCandidate(ctx, args[0], sent, reason)
		if err != nil {
			return err
		}
		if asJSON {
			return showJSON(a.stdout, made)
		}
		_, err = fmt.Fprintf(a.stdout, "Kept as candidate %s of %s.\n", printable.Text(made.ID), args[0])
		return err
	})
	addReasonFlag(cmd, &reason)
	addJSONFlag(cmd, &asJSON)
	return cmd
}
