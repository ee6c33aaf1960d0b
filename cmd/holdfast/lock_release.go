package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"
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
		Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, c *client, args []string) error {
		return a.releaseLock(ctx, c, args[0], flags)
	})
	cmd.Flags().StringVar(&flags.id, "id", "", "only if the lock has this ID")
	addReasonFlag(cmd, &flags.reason)
	addYesFlag(cmd, &flags.yes)
	addJSONFlag(cmd, &flags.asJSON)
	return cmd
}

func (a *app) releaseLock(ctx context.Context, c *client, name string, flags releaseFlags) error {
	holder, err := c.holder(ctx, name)
	if err != nil {
		return err
	}
	if holder.ID == "" && flags.asJSON {
		return showRaw(a.stdout, json.RawMessage(`{"released":null,"status":"success"}`)) // as if the server had answered
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
	if err := a.confirm(ctx, flags.yes, fmt.Sprintf("%s of %s. Release it?", holder, name)); err != nil {
		return err
	}
	path, err := ofState(name, "lock", "release")
	if err != nil {
		return err
	}
	raw, err := c.object(ctx, ask{method: http.MethodPost, path: path, body: order{Reason: reason, LockID: flags.id}.body()}, nil)
	if err != nil {
		return err
	}
	if flags.asJSON {
		return showRaw(a.stdout, raw)
	}
	_, err = fmt.Fprintf(a.stdout, "Released the lock %s of %s, which %s held.\n", printable(holder.ID), name, firstOf(printable(holder.Who), "somebody"))
	return err
}

// holder returns what the holder of a state's lock said of itself; without an ID when
// nobody holds it.
func (c *client) holder(ctx context.Context, name string) (*lockInfo, error) {
	path, err := ofState(name, "lock")
	if err != nil {
		return nil, err
	}
	var holder lockInfo
	_, err = c.object(ctx, ask{path: path}, &holder)
	return &holder, err
}
