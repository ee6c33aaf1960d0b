package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/printable"
)

// releaseFlags are what the command line of release says.
type releaseFlags struct {
	id, reason  string
	yes, asJSON bool
}

func newLockReleaseCommand(a *app) *cobra.Command {
	var flags releaseFlags
	cmd := a.remote(&cobra.Command{
		Use:   "release NAME",
		Short: "Release the lock that somebody else holds",
		Long: `Release a lock whose holder is gone. A holder who is still there can't write any more from
then on: what its apply did ends up in errored.tfstate. The reason is recorded. It shows the
holder and asks first on a terminal; elsewhere it needs --yes.`,
		Example: `  holdfast lock release prod/network --reason "the runner was shut down"
  holdfast lock release prod/network --id 7f0e… --reason "runner 12 is gone" --yes`,
		Args: ofState(cobra.ExactArgs(1)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		return a.releaseLock(ctx, c, args[0], flags)
	})
	cmd.Flags().StringVar(&flags.id, "id", "", "only if the lock has this ID")
	addReasonFlag(cmd, &flags.reason)
	addYesFlag(cmd, &flags.yes)
	addJSONFlag(cmd, &flags.asJSON)
	return cmd
}

func (a *app) releaseLock(ctx context.Context, c *client.Client, name string, flags releaseFlags) error {
	holder, err := c.Holder(ctx, name)
	if err != nil {
		return err
	}
	if holder.ID == "" && flags.asJSON {
		return showJSON(a.stdout, api.Released{Status: success}) // as if the server had answered
	}
	if holder.ID == "" {
		_, err := fmt.Fprintf(a.stdout, "Nobody holds the lock of %s.\n", name)
		return err
	}
	if flags.id == "" {
		flags.id = holder.ID // the one that was shown, not one that somebody takes meanwhile
	}
	reason, err := a.reason(ctx, flags.reason)
	if err != nil {
		return err
	}
	if err := a.confirm(ctx, flags.yes,
		fmt.Sprintf("%s of %s. Release it?", printable.Text(holder.String()), name)); err != nil {
		return err
	}
	released, err := c.ReleaseLock(ctx, name, api.Order{Reason: reason, LockID: flags.id})
	if err != nil {
		return err
	}
	if flags.asJSON {
		return showJSON(a.stdout, released)
	}
	_, err = fmt.Fprintf(a.stdout, "Released the lock %s of %s, which %s held.\n", printable.Text(holder.ID), name,
		cmp.Or(printable.Text(holder.Who), "somebody"))
	return err
}
