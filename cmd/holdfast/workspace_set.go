package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

// variableFlags are variables as the command line has them, each as NAME=VALUE.
type variableFlags struct{ texts, hcl, environment, secrets, secretEnvironment []string }

const (
	terraformKind   = "terraform"
	environmentKind = "environment"
)

func (f *variableFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.texts, "var", nil, "NAME=TEXT of a Terraform variable")
	flags.StringArrayVar(&f.hcl, "var-hcl", nil, `NAME=EXPRESSION of a Terraform variable, such as 'zones=["a", "b"]'`)
	flags.StringArrayVar(&f.environment, "env", nil, "NAME=TEXT of an environment variable")
	flags.StringArrayVar(&f.secrets, "secret", nil,
		"NAME=- of a sensitive Terraform variable: its value is read from stdin; NAME=@FILE from a file")
	flags.StringArrayVar(&f.secretEnvironment, "secret-env", nil,
		"NAME=- or NAME=@FILE of a sensitive environment variable")
}

func newWorkspaceSetCommand(a *app) *cobra.Command {
	var settings settingFlags
	var variables variableFlags
	var asJSON, org bool
	var cmd *cobra.Command
	cmd = a.remote(&cobra.Command{
		Use:   "set NAME | --all",
		Short: "Change a workspace's settings and variables",
		Long: `Change settings and variables of a workspace: those that are named, the others stay. With --all
the variables are those that all workspaces of the organization get; one of a workspace's own wins.

A sensitive variable is never shown again. Its value comes from stdin or from a file, because
others can see what is on a command line; one newline at its end is left out.`,
		Example: `  holdfast workspace set prod/network --var region=eu-1 --var-hcl 'zones=["a","b"]' --env AWS_REGION=eu-west-1
  pass show db | holdfast workspace set prod/network --secret db_password=-
  holdfast workspace set prod/network --approvals 2 --auto-apply never
  holdfast workspace set --all --env HTTPS_PROXY=http://proxy:3128`,
		Args: ofStateOrOrg(&org),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		name := strings.Join(args, "")
		change := settings.change(cmd)
		set, err := a.variablesOf(variables)
		if err != nil {
			return err
		}
		switch {
		case !anySetting(change) && len(set) == 0:
			return usagef("nothing is to be set")
		case org && anySetting(change):
			return usagef("settings are a workspace's: leave out --all, and name it")
		}
		return a.setWorkspace(ctx, c, name, change, set, asJSON)
	})
	settings.add(cmd)
	variables.add(cmd)
	addOrgScopeFlag(cmd, &org)
	addJSONFlag(cmd, &asJSON)
	return cmd
}

// setWorkspace sets the variables first: what is refused most often leaves all as it was.
func (a *app) setWorkspace(ctx context.Context, c *client.Client, name string, change api.WorkspaceChange,
	set []api.VariableValue, asJSON bool) error {
	if len(set) > 0 {
		if err := c.ChangeVariables(ctx, name, api.VariablesChange{Set: set}); err != nil {
			return err
		}
	}
	if anySetting(change) {
		if _, err := c.ChangeWorkspace(ctx, name, change); err != nil {
			return err
		}
	}
	if asJSON {
		return showJSON(a.stdout, api.Done{Status: success})
	}
	of := "all workspaces of the organization"
	if name != "" {
		of = name
	}
	_, err := fmt.Fprintf(a.stdout, "Changed %s.\n", of)
	return err
}

// variablesOf reads what the flags name, from the command line, stdin and files.
func (a *app) variablesOf(f variableFlags) (all []api.VariableValue, err error) {
	fromStdin := false
	for _, group := range []struct {
		given          []string
		kind           string
		hcl, sensitive bool
	}{
		{f.texts, terraformKind, false, false}, {f.hcl, terraformKind, true, false},
		{f.environment, environmentKind, false, false},
		{f.secrets, terraformKind, false, true}, {f.secretEnvironment, environmentKind, false, true},
	} {
		for _, given := range group.given {
			name, value, ok := strings.Cut(given, "=")
			if !ok {
				return nil, usagef("%q is no NAME=VALUE", name)
			}
			if group.sensitive {
				if value == "-" && fromStdin {
					return nil, usagef("stdin has the value of one variable only: set the others apart")
				}
				fromStdin = fromStdin || value == "-"
				if value, err = a.secret(name, value); err != nil {
					return nil, err
				}
			}
			all = append(all, api.VariableValue{Kind: group.kind, Name: name, Value: value, HCL: group.hcl,
				Sensitive: group.sensitive})
		}
	}
	return all, nil
}

// secret reads a value from where it says.
func (a *app) secret(name, from string) (string, error) {
	var raw []byte
	var err error
	switch file, isFile := strings.CutPrefix(from, "@"); {
	case from == "-":
		raw, err = io.ReadAll(a.stdin)
	case isFile:
		raw, err = os.ReadFile(file)
	default:
		return "", usagef("others can see what is on a command line: say %s=- for stdin, or %[1]s=@FILE", name)
	}
	return strings.TrimSuffix(string(raw), "\n"), err
}

func newWorkspaceUnsetCommand(a *app) *cobra.Command {
	var texts, environment []string
	var asJSON, org bool
	cmd := a.remote(&cobra.Command{
		Use:   "unset NAME | --all",
		Short: "Remove variables",
		Long: "Remove variables of a workspace, or with --all those that all workspaces get. One that is not\nthere " +
			"is no error.",
		Example: "  holdfast workspace unset prod/network --var region --env AWS_REGION",
		Args:    ofStateOrOrg(&org),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		var keys []api.VariableKey
		for _, name := range texts {
			keys = append(keys, api.VariableKey{Kind: terraformKind, Name: name})
		}
		for _, name := range environment {
			keys = append(keys, api.VariableKey{Kind: environmentKind, Name: name})
		}
		if len(keys) == 0 {
			return usagef("no variable is named")
		}
		if err := c.ChangeVariables(ctx, strings.Join(args, ""), api.VariablesChange{Unset: keys}); err != nil {
			return err
		}
		if asJSON {
			return showJSON(a.stdout, api.Done{Status: success})
		}
		_, err := fmt.Fprintf(a.stdout, "Removed %s.\n", counted(int64(len(keys)), "variable"))
		return err
	})
	cmd.Flags().StringArrayVar(&texts, "var", nil, "name of a Terraform variable")
	cmd.Flags().StringArrayVar(&environment, "env", nil, "name of an environment variable")
	addOrgScopeFlag(cmd, &org)
	addJSONFlag(cmd, &asJSON)
	return cmd
}
