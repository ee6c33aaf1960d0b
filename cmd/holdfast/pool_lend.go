package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/printable"
)

const exampleOrganization = "3f2b7c1e-5a64-4d0e-9a43-0c6f3f0d8e11"

func newPoolSetCommand(a *app) *cobra.Command {
	var workspaces []string
	cmd := a.remote(&cobra.Command{
		Use:     "set NAME",
		Short:   "Have a pool serve other workspaces",
		Long:    "Have a pool serve those workspaces whose names match one of the patterns, or all without any.",
		Example: "  holdfast pool set eu --workspaces 'eu/*'\n  holdfast pool set eu --workspaces ''",
		Args:    cobra.ExactArgs(1),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		pool, err := c.ChangePool(ctx, args[0], workspaces)
		if err != nil {
			return err
		}
		return a.tellPool("Pool %s serves %s.", pool.Name, servesOf(pool.Workspaces))
	})
	cmd.Flags().StringSliceVar(&workspaces, "workspaces", nil, "patterns of the workspaces that it serves")
	_ = cmd.MarkFlagRequired("workspaces") // which is there
	return cmd
}

func (a *app) tellPool(format string, args ...any) error {
	_, err := fmt.Fprintln(a.stdout, printable.Lines(fmt.Sprintf(format, args...)))
	return err
}

func newPoolGrantCommand(a *app) *cobra.Command {
	var order api.GrantOrder
	cmd := a.remote(&cobra.Command{
		Use:   "grant NAME ORGANIZATION",
		Short: "Lend a pool to another organization",
		Long: `Lend a pool of yours to another organization, by its UUID. Its agents get runs of that organization
once it has accepted the pool: see "pool accept". Whoever runs the agents gets what those runs
need, secrets too.`,
		Example: "  holdfast pool grant eu " + exampleOrganization + " --workspaces 'prod/*'",
		Args:    cobra.ExactArgs(2),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		order.Organization = args[1]
		pool, err := c.GrantPool(ctx, args[0], order)
		if err != nil {
			return err
		}
		return a.tellPool("Pool %s is lent to %s once that accepts it.", pool.Name, args[1])
	})
	cmd.Flags().StringSliceVar(&order.Workspaces, "workspaces", nil,
		"patterns of that organization's workspaces (default: all)")
	return cmd
}

func newPoolRevokeCommand(a *app) *cobra.Command {
	return a.remote(&cobra.Command{
		Use:     "revoke NAME ORGANIZATION",
		Short:   "Lend a pool to another organization no more",
		Long:    "Lend a pool to another organization no more. What its agents have of that goes on to its end.",
		Example: "  holdfast pool revoke eu " + exampleOrganization,
		Args:    cobra.ExactArgs(2),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		pool, err := c.RevokePool(ctx, args[0], args[1])
		if err != nil {
			return err
		}
		return a.tellPool("Pool %s is lent to %s no more.", pool.Name, args[1])
	})
}

func newPoolAcceptCommand(a *app) *cobra.Command {
	var order api.PoolOrder
	var yes bool
	cmd := a.remote(&cobra.Command{
		Use:   "accept NAME --from ORGANIZATION",
		Short: "Use a pool that another organization lends",
		Long: `Use a pool that another organization lends yours, under the same name. Its agents get what runs of
these workspaces need: the configuration, the variables with their secrets, and a token for the
state. Asks first on a terminal; elsewhere it needs --yes.`,
		Example: "  holdfast pool accept eu --from " + exampleOrganization + " --workspaces 'prod/*' --yes",
		Args:    cobra.ExactArgs(1),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		order.Name = args[0]
		question := fmt.Sprintf("Have agents of organization %s execute runs, and see their secrets?",
			printable.Text(order.Lender))
		if err := a.confirm(ctx, yes, question); err != nil {
			return err
		}
		pool, err := c.AcceptPool(ctx, order)
		if err != nil {
			return err
		}
		return a.tellPool("Pool %s of %s serves %s.", pool.Name, pool.Lender, servesOf(pool.Workspaces))
	})
	cmd.Flags().StringVar(&order.Lender, "from", "", "UUID of the organization that lends it")
	cmd.Flags().StringSliceVar(&order.Workspaces, "workspaces", nil,
		"patterns of the workspaces that it serves (default: all)")
	_ = cmd.MarkFlagRequired("from") // which is there
	addYesFlag(cmd, &yes)
	return cmd
}
