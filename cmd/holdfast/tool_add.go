package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/agent/tools"
)

func newToolAddCommand(a *app) *cobra.Command {
	var fromPath, asJSON bool
	cmd := &cobra.Command{
		Use:   "add TOOL VERSION FILE",
		Short: "Add a tool's binary",
		Long: `Copy the binary of opentofu, terraform or terragrunt into the store. It is run once, without
your environment, to see that it is that version of that tool. To add the same binary again
changes nothing; another binary for a version that is there is refused.

With --from-path, it adds what it finds on PATH instead, whichever versions those are.

` + toolHelp,
		Example: `  holdfast tool add opentofu 1.12.6 ./tofu
  holdfast tool add terragrunt 0.88.0 ~/Downloads/terragrunt_linux_amd64
  holdfast tool add --from-path --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if fromPath {
				return cobra.NoArgs(cmd, args)
			}
			return cobra.ExactArgs(3)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := a.toolStore(cmd)
			if err != nil {
				return err
			}
			if fromPath {
				return a.addFromPath(cmd, store, asJSON)
			}
			return a.addTool(cmd, store, args, asJSON)
		},
	}
	cmd.Flags().BoolVar(&fromPath, "from-path", false, "add the tools that are on PATH")
	addJSONFlag(cmd, &asJSON)
	addConfigFlag(cmd)
	return cmd
}

func (a *app) addTool(cmd *cobra.Command, store *tools.Store, args []string, asJSON bool) error {
	name, err := tools.ParseName(args[0])
	if err != nil {
		return usageError{err}
	}
	path, err := filepath.Abs(args[2])
	if err != nil {
		return err
	}
	tool, err := store.Add(cmd.Context(), name, args[1], path)
	if err != nil {
		return err
	}
	return a.showTool("Added", tool, asJSON)
}

// showTool says what became of one tool.
func (a *app) showTool(done string, tool tools.Tool, asJSON bool) error {
	if asJSON {
		return showJSON(a.stdout, rowOfTool(tool))
	}
	_, err := fmt.Fprintf(a.stdout, "%s %s %s, SHA-256 %s.\n", done, tool.Name, tool.Version, tool.SHA256)
	return err
}

// addFromPath shows what was found, and fails if something of it could not be added.
func (a *app) addFromPath(cmd *cobra.Command, store *tools.Store, asJSON bool) error {
	found, err := store.FindOnPath(cmd.Context(), a.getenv("PATH"))
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return errors.New("there is no tofu, terraform or terragrunt on PATH")
	}
	refused := int64(0)
	for _, f := range found {
		if f.Err != nil {
			refused++
			fmt.Fprintf(a.stderr, "%s: %v\n", f.Path, f.Err)
		} else if err := a.showTool("Has", f.Tool, asJSON); err != nil {
			return err
		}
	}
	if refused > 0 {
		return fmt.Errorf("%s could not be added", counted(refused, "program"))
	}
	return nil
}
