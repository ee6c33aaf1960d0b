package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/fault"
)

// decisionFlags are what the command lines of rollback, promote and discard say.
type decisionFlags struct {
	reason, lockID string
	yes, asJSON    bool
}

func (f *decisionFlags) add(cmd *cobra.Command) {
	addReasonFlag(cmd, &f.reason)
	cmd.Flags().StringVar(&f.lockID, "lock-id", "", "ID of the lock that you hold; without it, nobody may hold one")
	addJSONFlag(cmd, &f.asJSON)
}

func newStateRollbackCommand(a *app) *cobra.Command {
	var flags decisionFlags
	cmd := a.remote(&cobra.Command{
		Use:   "rollback NAME VERSION",
		Short: "Make the content of an older version the newest",
		Long: `Store the content of an older version as a new version, with a serial above those of
all kept versions of its lineage: the next plan starts from it. Real things don't change by
that; the plan says what differs. A state that OpenTofu encrypted comes back byte for byte, with
the serial it had: plan files that were saved meanwhile may fit again, so throw them away.
It is refused while somebody holds the lock, and takes the
lock itself where the organization requires one.

On a terminal it shows the difference and asks first; elsewhere it needs --yes.`,
		Example: `  holdfast state rollback prod/network 7
  holdfast state rollback prod/network 7 --reason "the import went wrong" --yes`,
		Args: ofState(cobra.ExactArgs(2)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		number, err := readVersion(args[1])
		if err != nil {
			return err
		}
		return a.rollback(ctx, c, args[0], number, flags)
	})
	flags.add(cmd)
	addYesFlag(cmd, &flags.yes)
	return cmd
}

func (a *app) rollback(ctx context.Context, c *client.Client, name string, number uint64, flags decisionFlags) error {
	from, err := c.FindState(ctx, name)
	if err != nil {
		return err
	}
	asked := !flags.yes && a.interactive && from != nil && from.Version != nil
	if asked {
		a.showChange(ctx, c, name, number, from.Version.Number)
	}
	reason, err := a.reason(ctx, flags.reason)
	if err != nil {
		return err
	}
	if err := a.confirm(ctx, flags.yes, fmt.Sprintf("Roll %s back to version %d?", name, number)); err != nil {
		return err
	}
	o := api.Order{Reason: reason, LockID: flags.lockID}
	made, err := a.makeVersion(ctx, c, name, "state-rollback", o, func(o api.Order) (api.Version, error) {
		return c.Rollback(ctx, name, number, o)
	})
	if err != nil {
		return err
	}
	if flags.asJSON {
		return showJSON(a.stdout, made)
	}
	fmt.Fprintf(a.stdout, "%s has the content of version %d again, as version %d with serial %d.\n", name, number,
		made.Number, made.Serial)
	if made.Encrypted {
		fmt.Fprintln(a.stdout, "It is encrypted, so its serial is the one it had then: throw plan files away that were "+
			"saved since, as they may fit again.")
		return nil
	}
	if !asked {
		a.showChange(ctx, c, name, made.Number, made.Number-1)
	}
	return nil
}

// makeVersion has make make a version under the lock that the order names. It takes a lock of
// its own where there is none and the organization requires it.
func (a *app) makeVersion(ctx context.Context, c *client.Client, name, operation string, o api.Order,
	make func(api.Order) (api.Version, error)) (api.Version, error) {
	made, err := make(o)
	if client.IsCode(err, fault.LockRequired) {
		info := newLockInfo(operation, a.now())
		o.LockID = info.ID
		err = c.WithLock(ctx, name, info, func() (err error) {
			made, err = make(o)
			return err
		})
	}
	return made, err
}

// showChange shows how one version differs from another. Not being able to is no failure
// of what the command is for.
func (a *app) showChange(ctx context.Context, c *client.Client, name string, number, against uint64) {
	if err := a.diff(ctx, c, name, number, diffFlags{against: against}); err != nil {
		fmt.Fprintf(a.stderr, "holdfast: the difference can't be shown: %v\n", err)
	}
}
