package main

import (
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/agent/tools"
)

func newToolDownloadCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "download TOOL VERSION",
		Short: "Download a version of OpenTofu or Terraform",
		Long: `Download a version from its makers, or from the mirror that [tools] opentofu_mirror or
terraform_mirror names, unless it is there. The list of checksums must be signed by one of the
OpenPGP keys in opentofu_key_file or terraform_key_file; there is no key that is trusted
without being set. Terragrunt is not downloaded: add its binary.

` + toolHelp,
		Example: `  curl -O https://get.opentofu.org/opentofu.asc
  HOLDFAST_TOOLS_OPENTOFU_KEY_FILE=opentofu.asc holdfast tool download opentofu 1.12.6
  holdfast tool download terraform 1.5.7 --json`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := a.toolStore(cmd)
			if err != nil {
				return err
			}
			name, err := tools.ParseName(args[0])
			if err != nil {
				return usageError{err}
			}
			tool, err := store.Download(cmd.Context(), name, args[1])
			if err != nil {
				return err
			}
			return a.showTool("Has", tool, asJSON)
		},
	}
	addJSONFlag(cmd, &asJSON)
	addConfigFlag(cmd)
	return cmd
}
