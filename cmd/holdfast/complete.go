package main

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/client"
)

const (
	// completionPatience is how long a shell waits for names to complete a word with.
	completionPatience = 2 * time.Second
	// completionNames is how many names a shell is offered.
	completionNames = 200
)

// completer offers names for what stands on a command line so far.
type completer func(cmd *cobra.Command, typed string) []string

// complete has shells complete the first argument of each command below cmd that says in its
// usage what the argument is.
func (a *app) complete(cmd *cobra.Command) {
	for _, child := range cmd.Commands() {
		a.complete(child)
	}
	words := strings.Fields(cmd.Use)
	if len(words) < 2 || cmd.ValidArgsFunction != nil {
		return
	}
	if words[1] == "DIR" {
		cmd.ValidArgsFunction = foldersOnly
		return
	}
	offer := a.completerOf(cmd, strings.Trim(words[1], "[].…"))
	if offer == nil {
		return
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault // files, such as those of `state push NAME FILE`
		}
		return offer(cmd, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// completerOf returns what offers names for an argument that is called so in the usage.
func (a *app) completerOf(cmd *cobra.Command, argument string) completer {
	switch argument {
	case "ORG":
		return a.orgNames
	case "ORG-ID":
		return a.removedOrgs
	case "ENCLAVE":
		return a.asking(enclaveNames)
	case "REPOSITORY":
		return a.asking(repositoryNames)
	case "RUN":
		return a.asking(runNames)
	case "NAME", "STATE", "WORKSPACE":
		switch cmd.Parent().Name() {
		case "workspace", "config", "run":
			return a.asking(workspaceNames)
		case "state", "lock", "candidate":
			return a.asking(stateNames)
		case "repo":
			return a.asking(repositoryNames)
		case "layer":
			return a.asking(layerNames)
		case "policy":
			return a.asking(policyNames)
		case "pool":
			return a.asking(poolNames)
		}
	}
	return nil
}

// asking offers what a server knows. Nothing is said of a server that can't be asked: a shell
// would show it in the middle of a line.
func (a *app) asking(names func(ctx context.Context, c *client.Client, typed string) []string) completer {
	return func(cmd *cobra.Command, typed string) []string {
		flag := func(name string) string { value, _ := cmd.Flags().GetString(name); return value }
		found, err := a.credentials(clientFlags{addr: flag("addr"), org: flag("org"), credentials: flag("credentials")})
		if err != nil {
			return nil
		}
		ctx, stop := context.WithTimeout(cmd.Context(), completionPatience)
		defer stop()
		return names(ctx, client.New(client.Options{Address: found.addr, Org: found.org, Key: found.key, Tries: 1}), typed)
	}
}

// orgNames are those of the auth file; an organization without a name has its ID.
func (a *app) orgNames(cmd *cobra.Command, typed string) (names []string) {
	doc, _, err := a.loadAuth(cmd)
	if err != nil {
		return nil
	}
	for _, org := range doc.Organizations() {
		name := cmp.Or(org.Name, org.ID.String())
		if strings.HasPrefix(name, typed) {
			names = append(names, name)
		}
	}
	return names
}

// removedOrgs are the IDs of those that the auth file says were removed with their data.
func (a *app) removedOrgs(cmd *cobra.Command, typed string) (ids []string) {
	doc, _, err := a.loadAuth(cmd)
	if err != nil {
		return nil
	}
	for _, s := range doc.Shreddings() {
		if id := s.ID.String(); strings.HasPrefix(id, typed) {
			ids = append(ids, id)
		}
	}
	return ids
}
