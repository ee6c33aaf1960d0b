package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/printable"
	"github.com/holdfast/holdfast/state"
)

func newStatePushCommand(a *app) *cobra.Command {
	var force, restore, asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "push NAME FILE",
		Short: "Store a file as a state's next version",
		Long: `Take the lock, store the file as the next version, byte for byte, and release the lock,
also when storing fails or is interrupted. FILE is - for stdin.

As with the clients' own state push, a file of another lineage, of a smaller serial, or of
the same serial with other content is refused; --force stores it all the same. The guards
of the server look at it in either case.`,
		Example: `  holdfast state push prod/network errored.tfstate
  holdfast state pull prod/network | jq '.serial += 1' | holdfast state push prod/network -`,
		Args: ofState(cobra.ExactArgs(2)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		body, err := a.readBody(args[1])
		if err != nil {
			return err
		}
		next, err := state.Scan(body)
		if err != nil {
			return fmt.Errorf("%s is no state: %w", args[1], err)
		}
		return a.push(ctx, c, args[0], pushed{next, body, force, restore}, asJSON)
	})
	cmd.Flags().BoolVar(&force, "force", false, "also over another lineage or a newer serial")
	addRestoreFlag(cmd, &restore)
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func addRestoreFlag(cmd *cobra.Command, restore *bool) {
	cmd.Flags().BoolVar(restore, "restore-purged", false,
		"also if the same bytes were purged from the state; for keys of the role owner")
}

// readBody reads a file that is to be sent.
func (a *app) readBody(file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(a.stdin)
	}
	return os.ReadFile(file)
}

// pushed is what is to be stored.
type pushed struct {
	state.Summary
	body  []byte
	force bool
	// restore stores bytes that were purged.
	restore bool
}

func (a *app) push(ctx context.Context, c *client.Client, name string, p pushed, asJSON bool) error {
	var stored api.Stored
	info := newLockInfo("state-push", a.now())
	err := c.WithLock(ctx, name, info, func() error {
		before, err := c.FindState(ctx, name)
		if err != nil {
			return err
		}
		if err := p.mayFollow(before); err != nil && !p.force {
			return fmt.Errorf("%w; --force stores it all the same", err)
		}
		stored, err = a.store(ctx, c, name, info.ID, p)
		return err
	})
	switch {
	case stored.Version == 0:
		return err
	case asJSON:
		_ = showJSON(a.stdout, stored)
	default:
		fmt.Fprintf(a.stdout, "Stored %s as version %d with serial %d.\n", name, stored.Version, stored.Serial)
	}
	return err // that the lock was not released, at most
}

// store writes under a lock, and tells people what the guards have found.
func (a *app) store(ctx context.Context, c *client.Client, name, lockID string, p pushed) (api.Stored, error) {
	sent, end := a.sending(p.body)
	defer end()
	stored, err := c.Put(ctx, name, sent,
		client.Write{Condition: client.Condition{LockID: lockID}, RestorePurged: p.restore})
	if stored.Warnings != "" {
		fmt.Fprintf(a.stderr, "Warning: the server's guards have found: %s.\n", printable.Text(stored.Warnings))
	}
	return stored.Stored, err
}

// mayFollow says whether a state may be pushed over what there is, by the rules of the
// clients.
func (p pushed) mayFollow(before *api.State) error {
	if before == nil || before.Version == nil || before.DeletedAt != nil {
		return nil
	}
	old := before.Version
	digest := sha256.Sum256(p.body)
	switch {
	case old.Lineage != p.Lineage && old.Lineage != "" && p.Lineage != "":
		return fmt.Errorf("the file has the lineage %q, the state %q: they have nothing to do with each other", p.Lineage,
			old.Lineage)
	case p.Serial < old.Serial:
		return fmt.Errorf("the file has the serial %d, the state is newer: %d", p.Serial, old.Serial)
	case p.Serial == old.Serial && hex.EncodeToString(digest[:]) != old.Digest:
		return fmt.Errorf("the file has the state's serial %d, but other content", p.Serial)
	}
	return nil
}
