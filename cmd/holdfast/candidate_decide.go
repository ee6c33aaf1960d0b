package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

func newCandidateDiffCommand(a *app) *cobra.Command {
	var flags diffFlags
	cmd := a.remote(&cobra.Command{
		Use:     "diff NAME ID",
		Short:   "Show how a candidate differs from the newest version",
		Long:    "Show how an open candidate differs from the newest version. Sensitive values are masked.",
		Example: "  holdfast candidate diff prod/network 3f9a0c62d1e70b15",
		Args:    ofCandidate,
	}, func(ctx context.Context, c *client.Client, args []string) error {
		return a.showDiff(flags, func(o client.DiffOptions) (io.ReadCloser, error) {
			return c.OpenCandidateDiff(ctx, args[0], args[1], o)
		})
	})
	flags.add(cmd)
	return cmd
}

func newCandidatePromoteCommand(a *app) *cobra.Command {
	var flags decisionFlags
	var anyway, restore bool
	cmd := a.remote(&cobra.Command{
		Use:   "promote NAME ID",
		Short: "Make a candidate the newest version",
		Long: `Make a candidate the state's newest version, byte for byte, past all guards. It is refused
while somebody holds the lock, and when the state has moved on since the candidate came:
look at the difference then, and say --anyway. It takes the lock itself where the
organization requires one. Asks first on a terminal; elsewhere it needs --yes.`,
		Example: `  holdfast candidate promote prod/network 3f9a0c62d1e70b15 --reason "the destroy was meant" --yes`,
		Args:    ofCandidate,
	}, func(ctx context.Context, c *client.Client, args []string) error {
		return a.promote(ctx, c, args[0], args[1], flags, api.Order{Anyway: anyway, RestorePurged: restore})
	})
	flags.add(cmd)
	addYesFlag(cmd, &flags.yes)
	cmd.Flags().BoolVar(&anyway, "anyway", false, "also over a newer version than the one it was made for")
	addRestoreFlag(cmd, &restore)
	return cmd
}

func (a *app) promote(ctx context.Context, c *client.Client, name, id string, flags decisionFlags, o api.Order) error {
	reason, err := a.reason(ctx, flags.reason)
	if err != nil {
		return err
	}
	if err := a.confirm(ctx, flags.yes, fmt.Sprintf("Make candidate %s the newest version of %s?", id, name)); err != nil {
		return err
	}
	o.Reason, o.LockID = reason, flags.lockID
	made, err := a.makeVersion(ctx, c, name, "candidate-promote", o, func(o api.Order) (api.Version, error) {
		return c.Promote(ctx, name, id, o)
	})
	if err != nil {
		return err
	}
	if flags.asJSON {
		return showJSON(a.stdout, made)
	}
	_, err = fmt.Fprintf(a.stdout, "Candidate %s is version %d of %s now, with serial %d.\n", id, made.Number, name,
		made.Serial)
	return err
}

func newCandidateDiscardCommand(a *app) *cobra.Command {
	var flags decisionFlags
	cmd := a.remote(&cobra.Command{
		Use:   "discard NAME ID",
		Short: "End a candidate; its bytes go",
		Long: "End a candidate. Its bytes go, what describes it stays in the list. Asks first on a\nterminal; elsewhere " +
			"it needs --yes.",
		Example: `  holdfast candidate discard prod/network 3f9a0c62d1e70b15 --reason "applied again" --yes`,
		Args:    ofCandidate,
	}, func(ctx context.Context, c *client.Client, args []string) error {
		return a.discard(ctx, c, args[0], args[1], flags)
	})
	addReasonFlag(cmd, &flags.reason)
	addYesFlag(cmd, &flags.yes)
	addJSONFlag(cmd, &flags.asJSON)
	return cmd
}

func (a *app) discard(ctx context.Context, c *client.Client, name, id string, flags decisionFlags) error {
	if err := a.confirm(ctx, flags.yes,
		fmt.Sprintf("Discard candidate %s of %s? Its bytes can't be brought back.", id, name)); err != nil {
		return err
	}
	if err := c.Discard(ctx, name, id, flags.reason); err != nil {
		return err
	}
	if flags.asJSON {
		return showJSON(a.stdout, api.Done{Status: success})
	}
	_, err := fmt.Fprintf(a.stdout, "Discarded candidate %s of %s.\n", id, name)
	return err
}
