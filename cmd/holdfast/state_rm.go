package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/fault"
)

func newStateRmCommand(a *app) *cobra.Command {
	var yes, asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "rm NAME",
		Short: "Delete a state",
		Long: "Delete a state, under its lock, or without one where there is no room for it. Its versions\nare kept for a " +
			"while, and `holdfast state undelete` brings it back; what it describes stays\nwhere it is. Asks first on a " +
			"terminal; elsewhere it needs --yes.",
		Example: `  holdfast state rm prod/network
  holdfast state rm prod/network --yes`,
		Args: ofState(cobra.ExactArgs(1)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		return a.remove(ctx, c, args[0], yes, asJSON)
	})
	addYesFlag(cmd, &yes)
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func (a *app) remove(ctx context.Context, c *client.Client, name string, yes, asJSON bool) error {
	found, err := existing(ctx, c, name)
	if err != nil {
		return err
	}
	if err := a.confirm(ctx, yes, fmt.Sprintf("Delete %s, %s?", name, versionCalled(*found.Version))); err != nil {
		return err
	}
	if err := a.removeUnderLock(ctx, c, name); err != nil {
		return err
	}
	if asJSON {
		return showJSON(a.stdout, api.Done{Status: success})
	}
	_, err = fmt.Fprintf(a.stdout, "Deleted %s. `holdfast state undelete %s` brings it back.\n", name, name)
	return err
}

// removeUnderLock deletes the state under a lock of its own. Where the server has no room for
// one, it deletes without, as that must go on then: the server still refuses while somebody
// else holds the lock. An organization that requires the lock is told why there was none.
func (a *app) removeUnderLock(ctx context.Context, c *client.Client, name string) error {
	locked, info := false, newLockInfo("state-rm", a.now())
	err := c.WithLock(ctx, name, info, func() error {
		locked = true
		return c.Delete(ctx, name, client.Condition{LockID: info.ID})
	})
	if locked || !client.IsCode(err, fault.QuotaExceeded, fault.StoreFull) {
		return err
	}
	if without := c.Delete(ctx, name, client.Condition{}); !client.IsCode(without, fault.LockRequired) {
		err = without
	}
	return err
}
