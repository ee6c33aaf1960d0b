package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/printable"
)

func newLayerCommand(a *app) *cobra.Command {
	cmd := newGroup("layer", "Keep workspaces at what a repository says, and see drift")
	cmd.Long = `A layer is a workspace whose configuration comes from a folder of a repository's branch. The server
plans it when a commit changes it, checks it for drift, and does about that what its remediation says.`
	cmd.AddCommand(newLayerAddCommand(a), newLayerSetCommand(a), newLayerListCommand(a), newLayerShowCommand(a),
		newLayerDiscoverCommand(a), newLayerAcceptCommand(a), newLayerSyncCommand(a), newLayerCheckCommand(a),
		newLayerDriftCommand(a),
		newLayerExpectCommand(a), newLayerRemoveCommand(a))
	return cmd
}

// layerFlags are the settings of a layer.
type layerFlags struct {
	repository, branch, path, remediation, cron, zone string
	triggers                                          []string
	maxChanges, retries                               int
	every                                             string
	refreshOnly                                       bool
}

func (f *layerFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.repository, "repository", "", "name of the repository")
	flags.StringVar(&f.branch, "branch", "", "branch (default: main)")
	flags.StringVar(&f.path, "path", "", "folder of the repository (default: all of it)")
	flags.StringSliceVar(&f.triggers, "trigger", nil, "pattern of other paths that are relevant; may be repeated")
	flags.StringVar(&f.remediation, "remediation", "", "dry, propose or auto (default: dry)")
	flags.IntVar(&f.maxChanges, "max-changes", 0, "resources that auto may change without a person")
	flags.IntVar(&f.retries, "retries", 0, "failures that are one too many")
	flags.StringVar(&f.every, "check-every", "", "time between checks for drift, such as 20m; off for none")
	flags.StringVar(&f.cron, "check-cron", "", "when to check for drift, by five fields of cron")
	flags.BoolVar(&f.refreshOnly, "check-refresh-only", false,
		"look for what was changed outside alone, without a whole plan")
	flags.StringVar(&f.zone, "time-zone", "", "time zone of --check-cron (default: UTC)")
}

// change has what the flags name.
func (f *layerFlags) change(cmd *cobra.Command) (c api.LayerChange, err error) {
	set := cmd.Flags().Changed
	for name, to := range map[string]struct {
		field **string
		value *string
	}{
		"repository": {&c.Repository, &f.repository}, "branch": {&c.Branch, &f.branch}, "path": {&c.Path, &f.path},
		"remediation": {&c.Remediation, &f.remediation},
	} {
		if set(name) {
			*to.field = to.value
		}
	}
	if set("trigger") {
		c.Triggers = &f.triggers
	}
	if set("max-changes") {
		c.MaxChanges = &f.maxChanges
	}
	if set("retries") {
		c.Retries = &f.retries
	}
	if set("check-every") || set("check-cron") || set("check-refresh-only") {
		c.Drift = &api.LayerChecks{Off: f.every == "off", Cron: f.cron, TimeZone: f.zone, RefreshOnly: f.refreshOnly}
		if f.every != "" && f.every != "off" {
			every, err := parseSeconds(f.every)
			if err != nil {
				return c, fmt.Errorf("--check-every: %w", err)
			}
			c.Drift.Every = every
		}
	}
	return c, nil
}

func newLayerAddCommand(a *app) *cobra.Command {
	var flags layerFlags
	var tool, version string
	var reads []string
	var asJSON bool
	var cmd *cobra.Command
	cmd = a.remote(&cobra.Command{
		Use:   "add NAME --repository NAME",
		Short: "Make a layer",
		Long: `Make a layer, and a workspace of its name where there is none. It is planned at once; what follows
is what its remediation says.`,
		Example: `  holdfast layer add prod/network --repository infra --path envs/prod/network
  holdfast layer add prod/db --repository infra --path envs/prod/db --remediation propose --check-every 1h`,
		Args: ofState(cobra.ExactArgs(1)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		order, err := flags.change(cmd)
		if err != nil {
			return err
		}
		order.Name, order.Tool, order.Version, order.Reads = args[0], tool, version, reads
		made, err := c.CreateLayer(ctx, order)
		if err != nil {
			return err
		}
		return a.showLayerMade(made, "is there", asJSON)
	})
	flags.add(cmd)
	cmd.Flags().StringVar(&tool, "tool", "", "opentofu, terraform or terragrunt")
	cmd.Flags().StringVar(&version, "version", "", "version of the tool, or a constraint")
	cmd.Flags().StringSliceVar(&reads, "reads", nil, "patterns of the states whose outputs its runs may read")
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func (a *app) showLayerMade(l api.Layer, what string, asJSON bool) error {
	if asJSON {
		return showJSON(a.stdout, l)
	}
	_, err := fmt.Fprintf(a.stdout, "The layer %s %s: %s.\n", printable.Text(l.Name), what, printable.Lines(l.Says))
	return err
}

func newLayerSetCommand(a *app) *cobra.Command {
	var flags layerFlags
	var asJSON bool
	var cmd *cobra.Command
	cmd = a.remote(&cobra.Command{
		Use:     "set NAME",
		Short:   "Change a layer's settings",
		Long:    "Change the settings that flags name; the others stay.",
		Example: "  holdfast layer set prod/network --remediation auto --max-changes 3",
		Args:    ofState(cobra.ExactArgs(1)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		change, err := flags.change(cmd)
		if err != nil {
			return err
		}
		changed, err := c.ChangeLayer(ctx, args[0], change)
		if err != nil {
			return err
		}
		return a.showLayerMade(changed, "is changed", asJSON)
	})
	flags.add(cmd)
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func newLayerListCommand(a *app) *cobra.Command {
	var asJSON bool
	var repository string
	cmd := a.remote(&cobra.Command{
		Use:     "list",
		Short:   "List layers",
		Long:    "List the organization's layers with their states.",
		Example: "  holdfast layer list\n  holdfast layer list --repository infra --json | jq -r 'select(.drifted > 0) | .name'",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, c *client.Client, _ []string) error {
		return showList(ctx, a, c.Layers(repository), 0, asJSON, a.layerColumns())
	})
	cmd.Flags().StringVar(&repository, "repository", "", "those of this repository alone")
	a.tableFlags(cmd, &asJSON)
	return cmd
}

func (a *app) layerColumns() []column[api.Layer] {
	return []column[api.Layer]{
		{"NAME", always, func(l api.Layer) string { return l.Name }},
		{"STATE", always, func(l api.Layer) string { return l.State }},
		{"REMEDIATION", wide, func(l api.Layer) string { return l.Settings.Remediation }},
		{"REPOSITORY", always, func(l api.Layer) string { return l.Settings.Repository }},
		{"PATH", wide, func(l api.Layer) string { return l.Settings.Path }},
		{"DRIFTED", always, func(l api.Layer) string { return strconv.Itoa(l.Drifted) }},
		{"CHECKED", firm, func(l api.Layer) string { return a.tableTimeOr(l.CheckedAt) }},
		{"SAYS", filled, func(l api.Layer) string { return l.Says }},
	}
}

func newLayerShowCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:     "show NAME",
		Short:   "Show a layer's conditions and the last commits",
		Long:    "Show a layer's state, its conditions with their reasons, and what the last commits mean to it.",
		Example: "  holdfast layer show prod/network",
		Args:    ofState(cobra.ExactArgs(1)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		l, err := c.Layer(ctx, args[0])
		if err != nil {
			return err
		}
		if asJSON {
			return showJSON(a.stdout, l)
		}
		return a.showLayer(l)
	})
	addJSONFlag(cmd, &asJSON)
	a.addWideFlag(cmd)
	return cmd
}

func (a *app) showLayer(l api.Layer) error {
	s := l.Settings
	fmt.Fprintf(a.stdout, "Layer %s: %s\n%s\n%s\n\n", printable.Text(l.Name), l.State, printable.Lines(l.Says),
		printable.Text(strings.Join([]string{s.Repository, s.Branch, s.Path, s.Remediation}, ", ")))
	t := a.newTable(head{"CONDITION", always}, head{"STATUS", always}, head{"REASON", always}, head{"SINCE", firm},
		head{"MESSAGE", always})
	for _, c := range l.Conditions {
		t.add(c.Type, c.Status, c.Reason, a.tableTime(c.LastTransition), c.Message)
	}
	if err := t.show(); err != nil || len(l.Commits) == 0 {
		return err
	}
	fmt.Fprintln(a.stdout)
	commits := a.newTable(head{"COMMIT", always}, head{"RELEVANT", always}, head{"WHY", always})
	for _, c := range l.Commits {
		commits.add(c.Commit[:min(12, len(c.Commit))], map[bool]string{true: "yes", false: "no"}[c.Relevant], c.Why)
	}
	return commits.show()
}

func newLayerSyncCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:     "sync NAME",
		Short:   "Ask for a plan now",
		Long:    "Ask for a plan of a layer, whatever its state is. Failures before count no more.",
		Example: "  holdfast layer sync prod/network",
		Args:    ofState(cobra.ExactArgs(1)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		l, err := c.SyncLayer(ctx, args[0])
		if err != nil {
			return err
		}
		return a.showLayerMade(l, "is planned anew", asJSON)
	})
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func newLayerCheckCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:     "check NAME",
		Short:   "Ask for a check for drift now",
		Long:    "Ask for a check for drift of a layer, as it has them by itself now and then. It writes nothing.",
		Example: "  holdfast layer check prod/network",
		Args:    ofState(cobra.ExactArgs(1)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		l, err := c.CheckLayer(ctx, args[0])
		if err != nil {
			return err
		}
		return a.showLayerMade(l, "is checked", asJSON)
	})
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func newLayerRemoveCommand(a *app) *cobra.Command {
	var yes bool
	cmd := a.remote(&cobra.Command{
		Use:   "remove NAME",
		Short: "Have a workspace be no layer any more",
		Long: `Take a layer away: nothing is planned or checked by itself any more. Its workspace, its state and
what that is of stay. Asks first on a terminal; elsewhere it needs --yes.`,
		Example: "  holdfast layer remove prod/network --yes",
		Args:    ofState(cobra.ExactArgs(1)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		if err := a.confirm(ctx, yes, fmt.Sprintf("Remove layer %s?", printable.Text(args[0]))); err != nil {
			return err
		}
		if err := c.DeleteLayer(ctx, args[0]); err != nil {
			return err
		}
		_, err := fmt.Fprintf(a.stdout, "The layer %s is gone; its workspace is there still.\n", printable.Text(args[0]))
		return err
	})
	addYesFlag(cmd, &yes)
	return cmd
}
