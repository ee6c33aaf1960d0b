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

func newPolicyListCommand(a *app) *cobra.Command {
	var workspace string
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "list",
		Short: "List bundles of policies",
		Long: "List the organization's bundles of policies and those of its workspaces, or, with --workspace, those that count\n" +
			"for a workspace.",
		Example: "  holdfast policy list\n  holdfast policy list -w prod/network",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, c *client.Client, _ []string) error {
		all, err := c.Policies(ctx, workspace)
		if err != nil {
			return err
		}
		return a.showPolicies(all, asJSON)
	})
	addPolicyWorkspaceFlag(cmd, &workspace)
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func (a *app) showPolicies(all []api.Policy, asJSON bool) error {
	t := a.newTable(head{"BUNDLE", always}, head{"WORKSPACE", filled}, head{"VERSION", always}, head{"ENFORCE", always},
		head{"RULES", filled}, head{"TESTS", wide}, head{"CHANGED", wide}, head{"BY", wide}, head{"MESSAGE", filled})
	for _, p := range all {
		if asJSON {
			if err := showJSON(a.stdout, p); err != nil {
				return err
			}
			continue
		}
		t.add(p.Name, p.Workspace, strconv.FormatInt(p.Version, 10), p.Enforce, strconv.Itoa(p.Rules), strconv.Itoa(p.Tests),
			a.tableTime(p.CreatedAt), actorOf(p.CreatedBy), p.Message)
	}
	if asJSON {
		return nil
	}
	return t.show()
}

func newPolicyShowCommand(a *app) *cobra.Command {
	var workspace string
	var version int64
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "show NAME",
		Short: "Show a bundle of policies with its files and its versions",
		Long:  "Show the newest version of a bundle of policies, or another one, with its files, and which versions there are.",
		Example: `  holdfast policy show baseline
  holdfast policy show tags -w prod/network --version 3`,
		Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		found, err := c.Policy(ctx, workspace, args[0], version)
		if err != nil {
			return err
		}
		if asJSON {
			return showJSON(a.stdout, found)
		}
		if err := a.showPolicies(found.Versions, false); err != nil {
			return err
		}
		for _, f := range found.Contents {
			if _, err := fmt.Fprintf(a.stdout, "\n# %s, version %d: %s\n%s", printable.Text(found.Policy.Name),
				found.Policy.Version, printable.Text(f.Path), printableLines(f.Content)); err != nil {
				return err
			}
		}
		return nil
	})
	addPolicyWorkspaceFlag(cmd, &workspace)
	cmd.Flags().Int64Var(&version, "version", 0, "this version (default: the newest)")
	addJSONFlag(cmd, &asJSON)
	return cmd
}

// printableLines is a text of several lines, fit for a terminal.
func printableLines(text string) string {
	var shown strings.Builder
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		shown.WriteString(printable.Text(strings.ReplaceAll(line, "\t", "    ")) + "\n")
	}
	return shown.String()
}

func newPolicyRemoveCommand(a *app) *cobra.Command {
	var workspace string
	var yes, asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "remove NAME",
		Short: "Take a bundle of policies away with all its versions",
		Long:  "Take a bundle of policies away with all its versions: no plan is shown to it from then on.",
		Example: `  holdfast policy remove baseline --yes
  holdfast policy remove tags -w prod/network`,
		Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		if err := a.confirm(ctx, yes,
			fmt.Sprintf("Remove the bundle %s with all its versions?", printable.Text(args[0]))); err != nil {
			return err
		}
		if err := c.RemovePolicy(ctx, workspace, args[0]); err != nil {
			return err
		}
		if asJSON {
			return showJSON(a.stdout, api.Done{Status: success})
		}
		_, err := fmt.Fprintf(a.stdout, "Removed the bundle %s.\n", printable.Text(args[0]))
		return err
	})
	addPolicyWorkspaceFlag(cmd, &workspace)
	addYesFlag(cmd, &yes)
	addJSONFlag(cmd, &asJSON)
	return cmd
}
