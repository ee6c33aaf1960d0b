package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/elsewhere"
)

func newImportExportCommand(a *app) *cobra.Command {
	var flags broughtFlags
	var signer string
	cmd := &cobra.Command{
		Use:   "export FILE [STATE…]",
		Short: "Bring the states of an export that another Holdfast wrote",
		Long: `Bring the states of an export that "holdfast export" wrote, with all versions and their times. Each version
has to be what the manifest says, and the manifest what was signed; --signer says by whom. States that were
deleted there come only by their names.`,
		Example: `  holdfast import export acme.zip --dry-run
  holdfast import export acme.zip --into acme
  holdfast import export acme.zip prod/network`,
		Args: cobra.MinimumNArgs(1),
	}
	cmd.Flags().StringVar(&signer, "signer", "", "fingerprint of the key that it has to be signed with")
	flags.add(cmd)
	return a.remote(cmd, func(ctx context.Context, c *client.Client, args []string) (err error) {
		from, err := elsewhere.OpenExport(args[0], signer)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, from.Close()) }()
		if signer == "" && !flags.asJSON {
			a.note("The export is signed by the key %s.", from.Signer())
		}
		return a.bring(ctx, c, from, args[1:], flags)
	})
}
