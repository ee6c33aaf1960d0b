package main

import (
	"fmt"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/client"
)

func newStateBackendCommand(a *app) *cobra.Command {
	var flags clientFlags
	cmd := &cobra.Command{
		Use:   "backend NAME",
		Short: "Print the backend block that keeps a state here",
		Long: `Print the block that has Terraform or OpenTofu keep a state on the server. The server is
asked nothing: the state is made by the first apply. The block has no key, because a key
would end up in plan files: the clients take it from TF_HTTP_PASSWORD.

` + clientHelp,
		Example: `  holdfast state backend prod/network > backend.tf
  TF_HTTP_PASSWORD=$HOLDFAST_KEY tofu init`,
		Args: ofState(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			found, err := a.credentials(flags)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(a.stdout, backendBlock(found.addr, args[0], found.org))
			return err
		},
	}
	flags.add(cmd)
	return cmd
}

// backendBlock is the configuration that keeps a state at a server. It sets lock_address and
// unlock_address both: a client with only one of them leaves its locks behind. The
// password comes from the environment, because here it would end up in plan files.
func backendBlock(server, name string, org uuid.UUID) string {
	return fmt.Sprintf(`terraform {
  backend "http" {
    address        = %[1]q
    lock_address   = %[1]q
    unlock_address = %[1]q
    username       = %[2]q
  }
}
`, client.StateAddress(server, name), org)
}
