package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/printable"
)

func newPoolCommand(a *app) *cobra.Command {
	group := newGroup("pool", "Manage pools of agents, which execute runs")
	group.AddCommand(newPoolCreateCommand(a), newPoolListCommand(a), newPoolRotateCommand(a), newPoolRemoveCommand(a),
		newPoolSetCommand(a), newPoolGrantCommand(a), newPoolRevokeCommand(a), newPoolAcceptCommand(a))
	return group
}

func newPoolCreateCommand(a *app) *cobra.Command {
	var workspaces []string
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "create NAME",
		Short: "Make a pool, and show its token once",
		Long: `Make a pool of agents and print the token with which "holdfast agent" joins it. It is shown once
only. With --workspaces, the pool serves those whose names match one of the patterns.`,
		Example: `  holdfast pool create eu > pool.token
  holdfast pool create prod --workspaces 'prod/*'`,
		Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		pool, err := c.CreatePool(ctx, args[0], workspaces)
		if err != nil {
			return err
		}
		return a.showToken(pool, asJSON)
	})
	cmd.Flags().StringSliceVar(&workspaces, "workspaces", nil, "patterns of the workspaces that it serves (default: all)")
	addJSONFlag(cmd, &asJSON)
	return cmd
}

// showToken prints the token alone to stdout, which may be a file.
func (a *app) showToken(pool api.AgentPool, asJSON bool) error {
	if asJSON {
		return showJSON(a.stdout, pool)
	}
	fmt.Fprintf(a.stderr, "The token of pool %s, which is shown only now:\n", printable.Text(pool.Name))
	_, err := fmt.Fprintln(a.stdout, printable.Text(pool.Token))
	return err
}

func newPoolListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:     "list",
		Short:   "List pools and their agents",
		Long:    "List the organization's pools with their agents, and when those were seen last.",
		Example: "  holdfast pool list\n  holdfast pool list --json | jq -r '.agents[]?.name'",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, c *client.Client, _ []string) error {
		pools, err := c.Pools(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			for _, pool := range pools {
				if err := showJSON(a.stdout, pool); err != nil {
					return err
				}
			}
			return nil
		}
		return a.showPools(pools)
	})
	a.tableFlags(cmd, &asJSON)
	return cmd
}

func (a *app) showPools(pools []api.AgentPool) error {
	t := a.newTable(head{"POOL", always}, head{"WORKSPACES", always}, head{"AGENT", always}, head{"SYSTEM", wide},
		head{"SANDBOX", filled},
		head{"SEEN", filled}, head{"STATUS", filled})
	for _, pool := range pools {
		serves := servesOf(pool.Workspaces)
		switch {
		case pool.Lender != "":
			t.add(pool.Name, serves, "-", "", "", "", "lent by "+a.shortID(pool.Lender))
		case len(pool.Agents) == 0:
			t.add(pool.Name, serves, "-", "", "", "", "")
		}
		for _, g := range pool.Grants {
			t.add(pool.Name, servesOf(g.Workspaces), "-", "", "", "", "lent to "+a.shortID(g.Organization))
		}
		for _, agent := range pool.Agents {
			status := map[bool]string{true: "draining"}[agent.Draining]
			if len(agent.Runs) > 0 {
				status = strings.TrimPrefix(status+", "+strings.Join(agent.Runs, ", "), ", ")
			}
			t.add(pool.Name, serves, agent.Name, agent.System, agent.Sandbox,
				humanize.RelTime(agent.SeenAt, a.now(), "ago", "ahead"), status)
		}
	}
	return t.show()
}

func servesOf(workspaces []string) string {
	if len(workspaces) == 0 {
		return "all"
	}
	return strings.Join(workspaces, ", ")
}

func newPoolRotateCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "rotate NAME",
		Short: "Give a pool a new token",
		Long: "Give a pool a new token and print it, once only. The old one is good no more; agents that " +
			"have\njoined stay.",
		Example: "  holdfast pool rotate eu > pool.token",
		Args:    cobra.ExactArgs(1),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		pool, err := c.RotatePool(ctx, args[0])
		if err != nil {
			return err
		}
		return a.showToken(pool, asJSON)
	})
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func newPoolRemoveCommand(a *app) *cobra.Command {
	var yes bool
	cmd := a.remote(&cobra.Command{
		Use:   "remove NAME",
		Short: "Take a pool and its agents away",
		Long: `Take a pool and its agents away: they get no more work. Runs that wait for the pool go on waiting.
Asks first on a terminal; elsewhere it needs --yes.`,
		Example: "  holdfast pool remove eu --yes",
		Args:    cobra.ExactArgs(1),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		if err := a.confirm(ctx, yes, fmt.Sprintf("Remove pool %s with its agents?", printable.Text(args[0]))); err != nil {
			return err
		}
		if err := c.RemovePool(ctx, args[0]); err != nil {
			return err
		}
		_, err := fmt.Fprintf(a.stdout, "Pool %s is gone.\n", printable.Text(args[0]))
		return err
	})
	addYesFlag(cmd, &yes)
	return cmd
}
