package main

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/client"
)

// initResult is what init --json prints. Without Created there are only the files' names.
type initResult struct {
	AuthFile string `json:"auth_file"`
	Created  bool   `json:"created"`
	madeMaster
	*newKey
	Backend string `json:"backend,omitempty"`
}

// backendBlock is the configuration of the state prod/network. It sets lock_address and
// unlock_address both: a client with only one of them leaves its locks behind. The
// password comes from the environment, because here it would end up in plan files.
func backendBlock(address string, org uuid.UUID) string {
	state := client.StateAddress(address, "prod/network")
	return fmt.Sprintf(`terraform {
  backend "http" {
    address        = %[1]q
    lock_address   = %[1]q
    unlock_address = %[1]q
    username       = %[2]q
  }
}
`, state, org)
}

func (a *app) showFirst(path string, made newKey, master madeMaster, backend string, asJSON bool) error {
	if asJSON {
		return printJSON(a.stdout, initResult{AuthFile: path, Created: true, madeMaster: master, newKey: &made, Backend: backend})
	}
	_, err := fmt.Fprintf(a.stdout, `Made %s with the organization %s (%s).

Put this into your Terraform or OpenTofu configuration, and choose the state's name:

%s
and the key into the environment. It is shown only now:

    export TF_HTTP_PASSWORD='%s'
%s`, path, made.Name, made.Organization, indent(backend), made.Key, master.words("\n"))
	return err
}

// showLeft says that the auth file was there.
func (a *app) showLeft(path string, master madeMaster, asJSON bool) error {
	if asJSON {
		return printJSON(a.stdout, initResult{AuthFile: path, madeMaster: master})
	}
	_, err := fmt.Fprintf(a.stdout, "%s is there already, and was left as it is.\n%s", path, master.words(""))
	return err
}

func indent(text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		b.WriteString("    " + l)
	}
	return b.String()
}
