package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"
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
		Args:    cobra.ExactArgs(2),
	}, func(ctx context.Context, c *client, args []string) error {
		path, err := ofState(args[0], "candidates")
		if err != nil {
			return err
		}
		body, err := a.readBody(args[1])
		if err != nil {
			return err
		}
		query := url.Values{}
		if reason != "" {
			query.Set("reason", reason)
		}
		var made candidateFacts
		raw, err := c.object(ctx, ask{method: http.MethodPost, path: path, query: query, body: body, measure: a.sending}, &made)
		if err != nil {
			return err
		}
		if asJSON {
			return showRaw(a.stdout, raw)
		}
		_, err = fmt.Fprintf(a.stdout, "Kept as candidate %s of %s.\n", printable(made.ID), args[0])
		return err
	})
	addReasonFlag(cmd, &reason)
	addJSONFlag(cmd, &asJSON)
	return cmd
}
