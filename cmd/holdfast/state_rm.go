package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"
)

func newStateRmCommand(a *app) *cobra.Command {
	var yes, asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "rm NAME",
		Short: "Delete a state",
		Long:  "Delete a state, under its lock. Its versions are kept for a while, and `holdfast state\nundelete` brings it back; what it describes stays where it is. Asks first on a terminal;\nelsewhere it needs --yes.",
		Example: `  holdfast state rm prod/network
  holdfast state rm prod/network --yes`,
		Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, c *client, args []string) error {
		return a.remove(ctx, c, args[0], yes, asJSON)
	})
	addYesFlag(cmd, &yes)
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func (a *app) remove(ctx context.Context, c *client, name string, yes, asJSON bool) error {
	found, err := c.existing(ctx, name)
	if err != nil {
		return err
	}
	if err := a.confirm(ctx, yes, fmt.Sprintf("Delete %s, %s?", name, found.Version.called())); err != nil {
		return err
	}
	path, err := ofState(name)
	if err != nil {
		return err
	}
	var raw json.RawMessage
	err = c.underLock(ctx, name, "state-rm", a.now(), func(lockID string) error {
		var err error
		raw, err = c.object(ctx, ask{method: http.MethodDelete, path: path, query: url.Values{"ID": {lockID}}}, nil)
		return err
	})
	if err != nil {
		return err
	}
	if asJSON {
		return showRaw(a.stdout, raw)
	}
	_, err = fmt.Fprintf(a.stdout, "Deleted %s. `holdfast state undelete %s` brings it back.\n", name, name)
	return err
}
