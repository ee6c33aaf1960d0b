package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"
)

func newStateUndeleteCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:     "undelete NAME",
		Short:   "Bring a deleted state back",
		Long:    "Bring a deleted state back, with all its versions, as long as the organization's grace\nperiod lasts. `holdfast state list --deleted` shows what there is.",
		Example: "  holdfast state undelete prod/network",
		Args:    cobra.ExactArgs(1),
	}, func(ctx context.Context, c *client, args []string) error {
		path, err := ofState(args[0], "undelete")
		if err != nil {
			return err
		}
		var newest versionFacts
		raw, err := c.object(ctx, ask{method: http.MethodPost, path: path}, &newest)
		if err != nil {
			return err
		}
		if asJSON {
			return showRaw(a.stdout, raw)
		}
		_, err = fmt.Fprintf(a.stdout, "%s is back, at %s.\n", args[0], newest.called())
		return err
	})
	addJSONFlag(cmd, &asJSON)
	return cmd
}
