package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/auth/authfile"
)

func newOrgAliasCommand(a *app) *cobra.Command {
	var remove bool
	cmd := &cobra.Command{
		Use:   "alias ORG [ALIAS…]",
		Short: "Say what other servers call an organization",
		Long: `Say what other servers call an organization, so that addresses of theirs lead to its states:
GitLab's number or source of a project, Gitea's owner, a project of nimbolus, a tenant of devpro. Behind a
colon stands the folder of the states: with 77:shop, prod of project 77 is shop/prod.

Without aliases, those that it has are printed. An alias is of one organization only.

` + pickedUp,
		Example: `  holdfast org alias Acme 42 77:shop   # GitLab's projects 42 and 77
  holdfast org alias Acme group/project:live
  holdfast org alias Acme --remove 42
  holdfast org alias Acme`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.aliasOrg(cmd, args[0], args[1:], remove) },
	}
	cmd.Flags().BoolVar(&remove, "remove", false, "take the aliases away")
	addAuthFlags(cmd)
	return cmd
}

func (a *app) aliasOrg(cmd *cobra.Command, text string, given []string, remove bool) error {
	_, org, source, err := a.findOrgIn(cmd, text)
	if err != nil {
		return err
	}
	if len(given) == 0 && !remove {
		for _, alias := range org.Aliases {
			fmt.Fprintln(a.stdout, alias)
		}
		return nil
	}
	aliases := make([]authfile.Alias, len(given))
	for i, one := range given {
		if aliases[i], err = authfile.ParseAlias(one); err != nil {
			return usagef("%q is %w", one, err)
		}
	}
	if len(aliases) == 0 {
		return usagef("--remove needs aliases")
	}
	err = a.editAuth(cmd, source, func(d *authfile.Document) error {
		if remove {
			return d.RemoveAliases(org.ID, aliases...)
		}
		return d.AddAliases(org.ID, aliases...)
	})
	if err != nil {
		return err
	}
	verb := "goes by"
	if remove {
		verb = "goes no more by"
	}
	fmt.Fprintf(a.stderr, "%s %s %s.\n", called(org), verb, strings.Join(given, ", "))
	return nil
}
