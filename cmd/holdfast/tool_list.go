package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/agent/tools"
	"github.com/holdfast/holdfast/fault"
)

func newToolListCommand(a *app) *cobra.Command {
	var check, asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the tools that runs can execute",
		Long: `List the versions that are in the store, newest first, where each came from, and its SHA-256.
With --check, each binary is read and compared with that; the exit code is 1 if one differs.

` + toolHelp,
		Example: "  holdfast tool list\n  holdfast tool list --check\n  holdfast tool list --json | jq -r '\"\\(.tool) " +
			"\\(.version)\"'",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := a.toolStore(cmd)
			if err != nil {
				return err
			}
			all, err := store.List(cmd.Context())
			if err != nil {
				return err
			}
			if err := a.showTools(all, asJSON); err != nil || !check {
				return err
			}
			return a.checkTools(cmd.Context(), store, all)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "compare each binary with its SHA-256")
	addJSONFlag(cmd, &asJSON)
	a.addWideFlag(cmd)
	addConfigFlag(cmd)
	return cmd
}

func (a *app) showTools(all []tools.Tool, asJSON bool) error {
	t := a.newTable(head{"TOOL", firm}, head{"VERSION", firm}, head{"PLATFORM", firm}, head{"ADDED", firm},
		head{"SHA-256", firm}, head{"FROM", always})
	for _, tool := range all {
		if asJSON {
			if err := showJSON(a.stdout, rowOfTool(tool)); err != nil {
				return err
			}
		}
		t.add(string(tool.Name), tool.Version, tool.OS+"/"+tool.Arch, tool.Added.Format(time.DateOnly),
			a.shortDigest(tool.SHA256), tool.Origin)
	}
	if asJSON {
		return nil
	}
	return t.show()
}

func (a *app) checkTools(ctx context.Context, store *tools.Store, all []tools.Tool) error {
	changed := int64(0)
	for _, tool := range all {
		_, err := store.Open(ctx, tool.Name, tool.Version)
		if fault.Is(err, fault.ToolChanged) {
			changed++
			fmt.Fprintln(a.stderr, err)
		} else if err != nil {
			return err
		}
	}
	if changed > 0 {
		return fmt.Errorf("changed on disk: %s", counted(changed, "tool"))
	}
	return nil
}
