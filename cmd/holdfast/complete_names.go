package main

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

func stateNames(ctx context.Context, c *client.Client, typed string) []string {
	all := c.States(client.StatesQuery{Prefix: typed, Deleted: client.AnyDeletion, Limit: completionNames}).All(ctx)
	return namesOf(all, typed, func(s api.State) string { return s.Name })
}

func workspaceNames(ctx context.Context, c *client.Client, typed string) []string {
	return namesOf(c.Workspaces().All(ctx), typed, func(w api.Workspace) string { return w.Name })
}

func repositoryNames(ctx context.Context, c *client.Client, typed string) []string {
	return namesOf(c.Repositories().All(ctx), typed, func(r api.Repository) string { return r.Name })
}

func layerNames(ctx context.Context, c *client.Client, typed string) []string {
	return namesOf(c.Layers("").All(ctx), typed, func(l api.Layer) string { return l.Name })
}

// policyNames are those of the organization's bundles.
func policyNames(ctx context.Context, c *client.Client, typed string) []string {
	bundles, err := c.Policies(ctx, "")
	return matching(bundles, err, typed, func(p api.Policy) string { return p.Name })
}

// enclaveNames are what workspaces ENCLAVE/PARTITION begin with.
func enclaveNames(ctx context.Context, c *client.Client, typed string) (names []string) {
	for _, name := range workspaceNames(ctx, c, typed) {
		enclave, partition, ok := strings.Cut(name, "/")
		if ok && !strings.Contains(partition, "/") && !slices.Contains(names, enclave) {
			names = append(names, enclave)
		}
	}
	return names
}

func poolNames(ctx context.Context, c *client.Client, typed string) []string {
	pools, err := c.Pools(ctx)
	return matching(pools, err, typed, func(p api.AgentPool) string { return p.Name })
}

// matching are those of a whole list that go on from what was typed; none where the server did not tell it.
func matching[T any](all []T, err error, typed string, name func(T) string) (names []string) {
	if err != nil {
		return nil
	}
	for _, one := range all {
		if text := name(one); strings.HasPrefix(text, typed) {
			names = append(names, text)
		}
	}
	return names
}

// runNames are the IDs of runs, newest first, each with what it is for.
func runNames(ctx context.Context, c *client.Client, typed string) []string {
	all := c.Runs(client.RunsQuery{Limit: completionNames}).All(ctx)
	return namesOf(all, typed,
		func(r api.Run) string { return r.ID + "\t" + r.Kind + " of " + r.Workspace + ", " + r.Status })
}

// namesOf are those that go on from what was typed, as far as the server told them.
func namesOf[T any](all iter.Seq2[T, error], typed string, name func(T) string) (names []string) {
	for one, err := range all {
		if err != nil || len(names) == completionNames {
			break
		}
		if text := name(one); strings.HasPrefix(text, typed) {
			names = append(names, text)
		}
	}
	return names
}
