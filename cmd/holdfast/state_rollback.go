package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

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
that; the plan says what differs. It is refused while somebody holds the lock, and takes the
lock itself where the organization requires one.

On a terminal it shows the difference and asks first; elsewhere it needs --yes.`,
		Example: `  holdfast state rollback prod/network 7
  holdfast state rollback prod/network 7 --reason "the import went wrong" --yes`,
		Args: cobra.ExactArgs(2),
	}, func(ctx context.Context, c *client, args []string) error {
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

func (a *app) rollback(ctx context.Context, c *client, name string, number uint64, flags decisionFlags) error {
	from, err := c.findState(ctx, name)
	if err != nil {
		return err
	}
	version := strconv.FormatUint(number, 10)
	path, err := ofState(name, "versions", version, "rollback")
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
	if err := a.confirm(ctx, flags.yes, fmt.Sprintf("Roll %s back to version %s?", name, version)); err != nil {
		return err
	}
	made, raw, err := a.makeVersion(ctx, c, name, path, "state-rollback", order{Reason: reason, LockID: flags.lockID})
	if err != nil {
		return err
	}
	if flags.asJSON {
		return showRaw(a.stdout, raw)
	}
	fmt.Fprintf(a.stdout, "%s has the content of version %s again, as version %d with serial %d.\n", name, version, made.Number, made.Serial)
	if !asked {
		a.showChange(ctx, c, name, made.Number, made.Number-1)
	}
	return nil
}

// makeVersion has the server make a version under the lock that the order names. It takes one
// of its own where there is none and the organization requires it.
func (a *app) makeVersion(ctx context.Context, c *client, name, path, operation string, o order) (made versionFacts, raw json.RawMessage, err error) {
	send := func(lockID string) (err error) {
		o.LockID = lockID
		raw, err = c.object(ctx, ask{method: http.MethodPost, path: path, body: o.body()}, &made)
		return err
	}
	err = send(o.LockID)
	if isRefusal(err, fault.LockRequired) {
		err = c.underLock(ctx, name, operation, a.now(), send)
	}
	return made, raw, err
}

// showChange shows how one version differs from another. Not being able to is no failure
// of what the command is for.
func (a *app) showChange(ctx context.Context, c *client, name string, number, against uint64) {
	path, err := ofState(name, "versions", strconv.FormatUint(number, 10), "diff")
	if err == nil {
		err = a.diff(ctx, c, path, diffFlags{against: against})
	}
	if err != nil {
		fmt.Fprintf(a.stderr, "holdfast: the difference can't be shown: %v\n", err)
	}
}
