package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

func addDiscoverFlags(cmd *cobra.Command, order *api.DiscoverOrder) {
	cmd.Flags().StringVar(&order.Branch, "branch", "", "branch (default: main)")
	cmd.Flags().StringVar(&order.Pattern, "pattern", "", "folders that are layers, such as envs/*/ (default: what holdfast.yaml says)")
}

func newLayerDiscoverCommand(a *app) *cobra.Command {
	var order api.DiscoverOrder
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "discover REPOSITORY",
		Short: "Show which layers a repository has",
		Long: `Show the layers of a repository, by the holdfast.yaml in it or by a pattern of folders. Nothing is
made: see holdfast layer accept.`,
		Example: "  holdfast layer discover infra\n  holdfast layer discover infra --pattern 'envs/*/'",
		Args:    cobra.ExactArgs(1),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		order.Repository = args[0]
		found, err := c.DiscoverLayers(ctx, order)
		if err != nil {
			return err
		}
		return a.showDiscovered(found, asJSON)
	})
	addDiscoverFlags(cmd, &order)
	a.tableFlags(cmd, &asJSON)
	return cmd
}

func (a *app) showDiscovered(found api.Discovered, asJSON bool) error {
	if asJSON {
		return showJSON(a.stdout, found)
	}
	t := a.newTable(head{"NAME", always}, head{"PATH", always}, head{"REMEDIATION", always},
		head{"READS OUTPUTS OF", filled}, head{"STATUS", always})
	for _, l := range found.Layers {
		t.add(l.Name, l.Settings.Path, l.Settings.Remediation, strings.Join(l.Reads, ", "), l.Status)
	}
	return t.show()
}

func newLayerAcceptCommand(a *app) *cobra.Command {
	var order api.DiscoverOrder
	var asJSON, all bool
	cmd := a.remote(&cobra.Command{
		Use:   "accept REPOSITORY [NAME...]",
		Short: "Make layers that a repository has",
		Long: `Make or change the layers of a repository that are named, or with --all each that is new or has
changed. What there is already stays as it is.`,
		Example: "  holdfast layer accept infra envs/prod/network\n  holdfast layer accept infra --all",
		Args:    cobra.MinimumNArgs(1),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		order.Repository, order.Accept = args[0], args[1:]
		if all == (len(args) > 1) {
			return fmt.Errorf("name the layers to accept, or use --all")
		}
		if all {
			found, err := c.DiscoverLayers(ctx, order)
			if err != nil {
				return err
			}
			for _, l := range found.Layers {
				if l.Status != "same" {
					order.Accept = append(order.Accept, l.Name)
				}
			}
		}
		found, err := c.DiscoverLayers(ctx, order)
		if err != nil {
			return err
		}
		return a.showDiscovered(found, asJSON)
	})
	addDiscoverFlags(cmd, &order)
	cmd.Flags().BoolVar(&all, "all", false, "each that is new or has changed")
	a.tableFlags(cmd, &asJSON)
	return cmd
}
