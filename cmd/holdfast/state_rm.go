package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/fault"
)

func newStateRmCommand(a *app) *cobra.Command {
	var yes, asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "rm NAME",
		Short: "Delete a state",
		Long:  "Delete a state, under its lock, or without one where there is no room for it. Its versions\nare kept for a while, and `holdfast state undelete` brings it back; what it describes stays\nwhere it is. Asks first on a terminal; elsewhere it needs --yes.",
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
	raw, err := a.removeUnderLock(ctx, c, name, path)
	if err != nil {
		return err
	}
	if asJSON {
		return showRaw(a.stdout, raw)
	}
	_, err = fmt.Fprintf(a.stdout, "Deleted %s. `holdfast state undelete %s` brings it back.\n", name, name)
	return err
}

// removeUnderLock deletes the state under a lock of its own. Where the server has no room for
// one, it deletes without, as that must go on then: the server still refuses while somebody
// else holds the lock. An organization that requires the lock is told why there was none.
func (a *app) removeUnderLock(ctx context.Context, c *client, name, path string) (raw json.RawMessage, err error) {
	remove := func(query url.Values) (err error) {
		raw, err = c.object(ctx, ask{method: http.MethodDelete, path: path, query: query}, nil)
		return err
	}
	locked := false
	err = c.underLock(ctx, name, "state-rm", a.now(), func(lockID string) error {
		locked = true
		return remove(url.Values{"ID": {lockID}})
	})
	if locked || !isRefusal(err, fault.QuotaExceeded, fault.StoreFull) {
		return raw, err
	}
	if without := remove(nil); !isRefusal(without, fault.LockRequired) {
		err = without
	}
	return raw, err
}
