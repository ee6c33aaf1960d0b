package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/insight/policy"
	"github.com/holdfast/holdfast/internal/printable"
)

func addPolicyWorkspaceFlag(cmd *cobra.Command, workspace *string) {
	cmd.Flags().StringVarP(workspace, "workspace", "w", "", "the bundle of this workspace (default: of all the organization's)")
}

func newPolicyPushCommand(a *app) *cobra.Command {
	var workspace, enforce, message string
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "push NAME FOLDER",
		Short: "Have the plans of an organization or a workspace shown to policies",
		Long: `Make a version of the bundle NAME of the files in a folder and in those below it: policies that end in .rego, and
in the folder itself waivers.yaml and prices.csv. The server compiles it and runs its tests, and takes it only
if they pass. From then on plans are shown to it: --enforce says what becomes of one in which deny or violation
finds something. With advise it is a finding; with hold the plan waits for somebody who may approve, and with
refuse its run fails. Waivers let the findings of every rule be, and prices take the place of the sheet that comes
with the program.`,
		Example: `  holdfast policy push baseline policies/ --enforce hold
  holdfast policy push tags policies/tags -w prod/network --enforce refuse --message "by the new rules for tags"`,
		Args: cobra.ExactArgs(2),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		files, err := readBundle(os.DirFS(args[1]))
		if err != nil {
			return fmt.Errorf("the bundle in %s: %w", args[1], err)
		}
		made, err := c.PushPolicy(ctx, workspace, args[0], api.PolicyOrder{Files: files, Enforce: enforce, Message: message})
		if err != nil {
			return withDetails(err)
		}
		if asJSON {
			return showJSON(a.stdout, made)
		}
		_, err = fmt.Fprintf(a.stdout, "The bundle %s has version %d: %s, %s passed, %s.\n", made.Name, made.Version,
			counted(int64(made.Rules), "rule"), counted(int64(made.Tests), "test"), made.Enforce)
		return err
	})
	addPolicyWorkspaceFlag(cmd, &workspace)
	cmd.Flags().StringVar(&enforce, "enforce", "advise", "what becomes of a plan that it denies: advise, hold, refuse")
	cmd.Flags().StringVar(&message, "message", "", "why, for people")
	addJSONFlag(cmd, &asJSON)
	return cmd
}

// readBundle reads what a bundle may have out of a folder.
func readBundle(from fs.FS) (files []api.PolicyFile, err error) {
	bytes := 0
	err = fs.WalkDir(from, ".", func(name string, entry fs.DirEntry, err error) error {
		wanted := path.Ext(name) == ".rego" || name == policy.WaiversFile || name == policy.PricesFile
		if err != nil || entry.IsDir() || !wanted {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if len(files) >= policy.MaxFiles || int64(bytes)+info.Size() > policy.MaxBytes {
			return fmt.Errorf("it has more than %d files, or %d bytes", policy.MaxFiles, policy.MaxBytes)
		}
		text, err := fs.ReadFile(from, name)
		files, bytes = append(files, api.PolicyFile{Path: name, Content: string(text)}), bytes+len(text)
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("there is neither a file that ends in .rego, nor %s or %s", policy.WaiversFile, policy.PricesFile)
	}
	return files, err
}

// withDetails adds where the server found each fault.
func withDetails(err error) error {
	refusal, ok := err.(*client.Error)
	if !ok || len(refusal.Details) == 0 {
		return err
	}
	var text strings.Builder
	for _, d := range refusal.Details {
		text.WriteString("\n  " + printable.Text(d.Pointer+": "+d.Rule))
	}
	return fmt.Errorf("%w%s", err, text.String())
}
