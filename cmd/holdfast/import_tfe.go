package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/elsewhere"
)

// envTFEToken is the token of Terraform Enterprise, as its own tools call it.
const envTFEToken = "TFE_TOKEN"

func newImportTFECommand(a *app) *cobra.Command {
	var flags broughtFlags
	from := elsewhere.TFE{}
	cmd := &cobra.Command{
		Use:   "tfe ORGANIZATION [WORKSPACE…]",
		Short: "Bring the states of Terraform Enterprise's or HCP Terraform's workspaces",
		Long: `Bring the states of the workspaces of an organization in Terraform Enterprise or HCP Terraform, with all
versions and their times. The token comes from ` + envTFEToken + ` in the environment, and is one of a user or a team
that may read the workspaces and their states: an organization's own reads none.`,
		Example: `  TFE_TOKEN=… holdfast import tfe acme --dry-run
  TFE_TOKEN=… holdfast import tfe acme network dns --tfe https://tfe.example.com --into prod`,
		Args: cobra.MinimumNArgs(1),
	}
	cmd.Flags().StringVar(&from.Address, "tfe", "https://app.terraform.io", "the service's address")
	flags.add(cmd)
	return a.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		token := a.getenv(envTFEToken)
		if token == "" {
			return usagef("there is no token: set %s", envTFEToken)
		}
		if _, err := readAddress(from.Address); err != nil {
			return usagef("--tfe: %w", err)
		}
		from.Organization, from.Header = args[0], map[string]string{"Authorization": "Bearer " + token}
		return a.bring(ctx, c, &from, args[1:], flags)
	})
}
