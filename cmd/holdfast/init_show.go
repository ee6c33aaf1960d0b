package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// initResult is what init --json prints. Without Created there are only the files' names.
type initResult struct {
	AuthFile string `json:"auth_file"`
	Created  bool   `json:"created"`
	madeMaster
	*newKey
	Backend string `json:"backend,omitempty"`
}

func (a *app) showFirst(path, address string, made newKey, master madeMaster, asJSON bool) error {
	backend := backendBlock(address, "prod/network", made.Organization)
	if asJSON {
		return printJSON(a.stdout,
			initResult{AuthFile: path, Created: true, madeMaster: master, newKey: &made, Backend: backend})
	}
	_, err := fmt.Fprintf(a.stdout, `Made %s with the organization %s (%s).

Put this into your Terraform or OpenTofu configuration, and choose the state's name:

%s
and this into the environment. The key is shown only now:

%s%s`, path, made.Name, made.Organization, indent(backend), indent(a.exports(address, made)), master.words("\n"))
	return err
}

// exports are what a shell needs for clients, for this program, and for the lines of the README.
func (a *app) exports(address string, made newKey) string {
	lines := fmt.Sprintf("export TF_HTTP_PASSWORD='%s'\n", made.Key) +
		fmt.Sprintf("export HOLDFAST_ADDR='%s' HOLDFAST_KEY=\"$TF_HTTP_PASSWORD\"\n", address) +
		fmt.Sprintf("export ORG='%s' KEY=\"$TF_HTTP_PASSWORD\"\n", made.Organization)
	if folder := a.unfound(); folder != "" {
		lines += fmt.Sprintf("export PATH=\"$PATH:%s\"\n", folder)
	}
	return lines
}

// unfound is the folder of this program, where PATH does not lead to it.
func (a *app) unfound() string {
	own, err := os.Executable()
	folder := filepath.Dir(own)
	if err != nil || slices.Contains(filepath.SplitList(a.getenv("PATH")), folder) ||
		strings.ContainsAny(folder, "\"$`\\:") {
		return ""
	}
	return folder
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
