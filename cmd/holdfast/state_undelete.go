package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/client"
)

func newStateUndeleteCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "undelete NAME",
		Short: "Bring a deleted state back",
		Long: "Bring a deleted state back, with all its versions, as long as the organization's grace\nperiod lasts. " +
			"`holdfast state list --deleted` shows what there is.",
		Example: "  holdfast state undelete prod/network",
		Args:    ofState(cobra.ExactArgs(1)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		newest, err := c.Undelete(ctx, args[0])
		if err != nil {
			return err
		}
		if asJSON {
			return showJSON(a.stdout, newest)
		}
		_, err = fmt.Fprintf(a.stdout, "%s is back, at %s.\n", args[0], versionCalled(newest))
		return err
	})
	addJSONFlag(cmd, &asJSON)
	return cmd
}
