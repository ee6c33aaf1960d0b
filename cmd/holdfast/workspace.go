package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

func newWorkspaceCommand(a *app) *cobra.Command {
	cmd := newGroup("workspace", "Say how a state's configuration is run: settings and variables")
	cmd.Long = `A workspace has the name of the state that its runs write. It holds how they are made, the
variables that they get, and the configurations that were pushed (see holdfast config).`
	cmd.AddCommand(newWorkspaceCreateCommand(a), newWorkspaceListCommand(a), newWorkspaceShowCommand(a),
		newWorkspaceSetCommand(a), newWorkspaceUnsetCommand(a), newWorkspaceDeleteCommand(a))
	return cmd
}

func newWorkspaceCreateCommand(a *app) *cobra.Command {
	var flags settingFlags
	var asJSON bool
	var cmd *cobra.Command
	cmd = a.remote(&cobra.Command{
		Use:   "create NAME",
		Short: "Make a workspace",
		Long: "Make a workspace for the state NAME, which need not be there yet. To make it again with the\nsame " +
			"settings changes nothing.",
		Example: "  holdfast workspace create prod/network --tool opentofu --version 1.12.6\n  holdfast workspace create " +
			"prod/db --approvals 2 --protect --pool eu",
		Args: ofState(cobra.ExactArgs(1)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		order := flags.change(cmd)
		order.Name = args[0]
		made, err := c.CreateWorkspace(ctx, order)
		if err != nil {
			return err
		}
		if asJSON {
			return showJSON(a.stdout, made)
		}
		_, err = fmt.Fprintf(a.stdout,
			"The workspace %s is there. Push its configuration: holdfast config push %[1]s FOLDER\n", made.Name)
		return err
	})
	flags.add(cmd)
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func newWorkspaceListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:     "list",
		Short:   "List workspaces",
		Long:    "List the organization's workspaces by name.",
		Example: "  holdfast workspace list\n  holdfast workspace list --json | jq -r 'select(.snapshot == null) | .name'",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, c *client.Client, _ []string) error {
		return showList(ctx, a, c.Workspaces(), 0, asJSON, a.workspaceColumns())
	})
	a.tableFlags(cmd, &asJSON)
	return cmd
}

func (a *app) workspaceColumns() []column[api.Workspace] {
	return []column[api.Workspace]{
		{"NAME", always, func(w api.Workspace) string { return w.Name }},
		{"TOOL", always, func(w api.Workspace) string { return toolOf(w.Settings) }},
		{"POOL", filled, func(w api.Workspace) string { return w.Settings.Pool }},
		{"AUTO-APPLY", wide, func(w api.Workspace) string { return w.Settings.AutoApply }},
		{"APPROVALS", wide, func(w api.Workspace) string { return strconv.Itoa(w.Settings.Approvals) }},
		{"CONFIGURATION", always, configurationOf},
		{"CHANGED", firm, func(w api.Workspace) string { return a.tableTime(w.UpdatedAt) }},
	}
}

func toolOf(s api.WorkspaceSettings) string { return strings.TrimSpace(s.Tool + " " + s.Version) }

func configurationOf(w api.Workspace) string {
	if w.Snapshot == nil {
		return "none yet"
	}
	return fmt.Sprintf("%d (%s)", w.Snapshot.Number, counted(int64(w.Snapshot.Files), "file"))
}

// shownWorkspace is a workspace with its variables, as JSON shows it.
type shownWorkspace struct {
	api.Workspace
	Variables []api.Variable `json:"variables"`
}

func newWorkspaceShowCommand(a *app) *cobra.Command {
	var asJSON, org bool
	cmd := a.remote(&cobra.Command{
		Use:   "show NAME | --all",
		Short: "Show a workspace's settings and variables",
		Long: "Show the settings and variables of a workspace, or the variables that all workspaces of " +
			"the\norganization get. Values of sensitive variables are never shown.",
		Example: "  holdfast workspace show prod/network\n  holdfast workspace show --all",
		Args:    ofStateOrOrg(&org),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		if org {
			variables, err := c.Variables(ctx, "")
			if err != nil {
				return err
			}
			if asJSON {
				return showJSON(a.stdout, variables)
			}
			return a.showVariables(variables.Variables)
		}
		return a.showWorkspace(ctx, c, args[0], asJSON)
	})
	addOrgScopeFlag(cmd, &org)
	addJSONFlag(cmd, &asJSON)
	a.addWideFlag(cmd)
	return cmd
}

func addOrgScopeFlag(cmd *cobra.Command, org *bool) {
	cmd.Flags().BoolVar(org, "all", false, "the variables of all workspaces of the organization, instead of a workspace's")
}

// ofStateOrOrg wants a state's name, or none with the flag.
func ofStateOrOrg(org *bool) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if *org {
			return cobra.NoArgs(cmd, args)
		}
		return ofState(cobra.ExactArgs(1))(cmd, args)
	}
}

func (a *app) showWorkspace(ctx context.Context, c *client.Client, name string, asJSON bool) error {
	w, err := c.Workspace(ctx, name)
	if err != nil {
		return err
	}
	variables, err := c.Variables(ctx, name)
	if err != nil {
		return err
	}
	if asJSON {
		return showJSON(a.stdout, shownWorkspace{w, variables.Variables})
	}
	if err := a.showFacts(factsOfWorkspace(w)); err != nil || len(variables.Variables) == 0 {
		return err
	}
	fmt.Fprintln(a.stdout)
	return a.showVariables(variables.Variables)
}

func factsOfWorkspace(w api.Workspace) [][2]string {
	s := w.Settings
	span := func(seconds int64) string { return (time.Duration(seconds) * time.Second).String() }
	yes := func(set bool) string {
		if set {
			return "yes"
		}
		return ""
	}
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	return [][2]string{
		{"name", w.Name}, {"paused", w.PausedReason}, {"tool", toolOf(s)}, {"directory", s.Directory}, {"pool", s.Pool},
		{"parallelism", number(s.Parallelism)},
		{"outputs", strings.Join(s.Outputs, ", ")}, {"reads outputs of", strings.Join(s.Reads, ", ")},
		{"configuration", configurationOf(w)},
		{"auto-apply", s.AutoApply}, {"approvals", number(s.Approvals)}, {"author may approve", yes(s.AllowAuthor)},
		{"approvals carry over", yes(s.CarryApprovals)}, {"a plan is good for", span(s.PlanTTL)},
		{"an approval for", span(s.ApprovalTTL)},
		{"a person is asked about", gatesOf(s)}, {"approvals for", kindsOf(s.ApprovalsFor, strconv.Itoa)},
		{"approvers for", kindsOf(s.ApproversFor, func(who []string) string { return strings.Join(who, " or ") })},
		{"protected", yes(s.Protected)}, {"sandbox", s.MinSandbox + " or more"},
		{"plan takes at most", span(s.PlanTimeout)}, {"apply", span(s.ApplyTimeout)},
		{"grace of a plan", span(s.PlanGrace)}, {"of an apply", span(s.ApplyGrace)},
		{"revision", strconv.FormatInt(w.Revision, 10)}, {"changed", showTime(w.UpdatedAt)}, {"by", actorOf(w.UpdatedBy)},
	}
}

// kindsOf shows what is said by what holds a plan.
func kindsOf[T any](all map[string]T, show func(T) string) string {
	var shown []string
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		shown = append(shown, kind+": "+show(all[kind]))
	}
	return strings.Join(shown, ", ")
}

// gatesOf says which plans wait for somebody who may approve, whatever is applied by itself.
func gatesOf(s api.WorkspaceSettings) string {
	var all []string
	switch s.Gate {
	case "critical":
		all = append(all, "critical findings")
	case "high":
		all = append(all, "high and critical findings")
	}
	if s.GateIrreversible {
		all = append(all, "changes that can't be undone")
	}
	if s.GateMonthlyCost > 0 {
		all = append(all, fmt.Sprintf("more than $%d more a month", s.GateMonthlyCost))
	}
	if s.GateWhen != "" {
		all = append(all, "when "+s.GateWhen)
	}
	return strings.Join(all, ", ")
}

// actorOf names who did something: a token's subject, a key's name, or else its ID.
func actorOf(by api.Actor) string {
	for _, name := range []string{by.Subject, by.KeyName} {
		if name != "" {
			return name
		}
	}
	return by.KeyID
}

func (a *app) showVariables(all []api.Variable) error {
	t := a.newTable(head{"VARIABLE", always}, head{"KIND", firm}, head{"SCOPE", always}, head{"CHANGED", wide},
		head{"BY", wide}, head{"VALUE", always})
	for _, v := range all {
		scope := v.Scope
		if v.Overridden {
			scope += ", overridden"
		}
		t.add(v.Name, v.Kind, scope, a.tableTime(v.UpdatedAt), actorOf(v.UpdatedBy), valueOf(v))
	}
	return t.show()
}

func valueOf(v api.Variable) string {
	switch {
	case v.Value == nil:
		return "(sensitive)"
	case v.HCL:
		return *v.Value
	default:
		return strconv.Quote(*v.Value)
	}
}

func newWorkspaceDeleteCommand(a *app) *cobra.Command {
	var yes, asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a workspace",
		Long: "Delete a workspace with its variables and configurations; its state stays. That is refused\nwhile a run " +
			"of it goes on.",
		Example: "  holdfast workspace delete prod/old --yes",
		Args:    ofState(cobra.ExactArgs(1)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		if err := a.confirm(ctx, yes,
			fmt.Sprintf("Delete the workspace %s with its variables and configurations?", args[0])); err != nil {
			return err
		}
		if err := c.DeleteWorkspace(ctx, args[0]); err != nil {
			return err
		}
		if asJSON {
			return showJSON(a.stdout, api.Done{Status: success})
		}
		_, err := fmt.Fprintf(a.stdout, "Deleted the workspace %s. The state of that name is as it was.\n", args[0])
		return err
	})
	addYesFlag(cmd, &yes)
	addJSONFlag(cmd, &asJSON)
	return cmd
}
