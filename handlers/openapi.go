package handlers

import (
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/openapi"
)

// Describe makes the OpenAPI document of operations, with what the source of package api says of
// its types.
func Describe(all []openapi.Operation, comments openapi.Comments) (*openapi.Document, error) {
	d := documentHead()
	words := api.Words()
	var meanings strings.Builder
	for _, entry := range fault.Catalogue() {
		words["ErrorCode"] = append(words["ErrorCode"], string(entry.Code))
		fmt.Fprintf(&meanings, "\n- `%s`: %s", entry.Code, entry.Meaning)
	}
	comments = maps.Clone(comments)
	comments["ErrorCode"] = "What went wrong. Codes never change, and others may come.\n" + meanings.String()
	w := openapi.Writer{
		Types:   openapi.Types{Comments: comments, Words: words},
		Failure: reflect.TypeFor[api.Failure](),
	}
	w.Types.SchemaOf(reflect.TypeFor[api.LogBytes]())
	w.Types.SchemaOf(reflect.TypeFor[api.RunStatus]())
	w.Types.SchemaOf(reflect.TypeFor[api.LiveChange]())
	w.Add(d, all)
	return d, nil
}

func documentHead() *openapi.Document {
	return &openapi.Document{
		Info: openapi.Info{
			Title: "Holdfast", Version: "1",
			Description: "A state backend for Terraform and OpenTofu for many organizations, with uploads, workspaces and runs. " +
				"Members and codes are only ever added: a client passes over members and texts that it does not know. " +
				"Every answer has `X-Request-ID`. A `/` in the last place of an address may stand as it is, or as `%2F`.",
			License: openapi.License{Name: "Apache 2.0", Identifier: "Apache-2.0"},
		},
		Servers: []openapi.Server{{URL: "/", Description: "The server that this document comes from"}},
		Tags: []openapi.Tag{
			{Name: tagCallers, Description: "Who is calling, and what they may do."},
			{Name: tagKeys, Description: "Keys of the organization, for who may make them."},
			{Name: tagSessions, Description: "What browsers are signed in with."},
			{Name: tagStates, Description: "What Terraform and OpenTofu ask of their http backend."},
			{Name: tagHistory, Description: "Versions, differences, locks, candidates and the audit log."},
			{Name: tagDialects, Description: "The same states at the addresses of other servers, where `state.dialects` " +
				"names them."},
			{Name: tagUploads, Description: "What providers report, and what is read back of it."},
			{Name: tagResources, Description: "One inventory of all states and uploads."},
			{Name: tagWorkspaces, Description: "Settings, variables and configurations."},
			{Name: tagLayers,
				Description: "Workspaces whose configuration comes from a repository, and what was changed outside."},
			{Name: tagProjects, Description: "Workspaces and runs by the names of Infisical Infra."},
			{Name: tagRuns, Description: "Plans and applies that the server makes."},
			{Name: tagPolicies, Description: "Bundles of policies that plans are shown to."},
			{Name: tagEnclaves, Description: "Partitions of enclaves: workspaces ENCLAVE/PARTITION, and their runs."},
			{Name: tagPools, Description: "Who else executes runs."},
			{Name: tagRepositories, Description: "Git repositories that configurations come from, and what their servers tell."},
			{Name: tagPulls, Description: "What pull requests of repositories would change, planned."},
			{Name: tagExecutors, Description: "What agents and executors of runs say."},
			{Name: tagProbes, Description: "For monitors; nothing in them is about an organization."},
			{Name: tagDescription, Description: "What you are reading; it needs no credentials."},
		},
		Components: openapi.Components{SecuritySchemes: schemes()},
	}
}

// schemes are the ways to show who one is.
func schemes() map[string]openapi.Schema {
	http := func(scheme, about string) openapi.Schema {
		return openapi.Of("http").With("scheme", scheme).With("description", about)
	}
	header := func(name, about string) openapi.Schema {
		return openapi.Of("apiKey").With("in", "header").With("name", name).With("description", about)
	}
	return map[string]openapi.Schema{
		"basic": http("basic",
			"A key as password; the organization's UUID as user name, where the key does not carry it."),
		"bearer":       http("bearer", "A key that carries its organization, or a CI job's token."),
		"key":          header("X-API-Key", "A key."),
		"organization": header("X-Org-ID", "The organization's UUID, where the key does not carry it."),
		"certificate":  openapi.Of("mutualTLS").With("description", "A client certificate that auth.cfg lists."),
		"session": openapi.Of("apiKey").With("in", "cookie").With("name", "__Host-holdfast-session").With("description",
			"What a browser is signed in with; holdfast-session without TLS."),
		"poolToken":   http("bearer", "The token of a pool of agents."),
		"agentSecret": http("bearer", "The secret of an agent."),
		"runToken":    http("bearer", "The token of a run's assignment."),
	}
}
