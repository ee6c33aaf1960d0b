package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/printable"
)

func newRepoCommand(a *app) *cobra.Command {
	cmd := newGroup("repo", "Register the git repositories that configurations come from")
	cmd.Long = `A repository has a URL, branches and what it is fetched with. The server keeps a mirror of it, looks
now and then whether there is something new, and at once when the git server tells it so by a webhook.`
	cmd.AddCommand(newRepoAddCommand(a), newRepoListCommand(a), newRepoShowCommand(a), newRepoSetCommand(a),
		newRepoFetchCommand(a), newRepoSecretCommand(a), newRepoRemoveCommand(a))
	return cmd
}

func newRepoAddCommand(a *app) *cobra.Command {
	var flags repoFlags
	var asJSON bool
	var cmd *cobra.Command
	cmd = a.remote(&cobra.Command{
		Use:   "add NAME URL",
		Short: "Register a repository, and show its webhook secret once",
		Long: `Register a git repository by its https or ssh URL and print the secret that its deliveries are to be
signed with, which is shown once only. Tokens and keys are read from files, or from stdin for "-", so
that they are in no list of processes and no shell's history.`,
		Example: `  holdfast repo add infra https://github.com/acme/infra.git --provider github --token-file token
  ssh-keyscan git.example.com > known
  holdfast repo add net git@git.example.com:net.git --key-file deploy --known-hosts-file known`,
		Args: cobra.ExactArgs(2),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		order, err := flags.change(a, cmd)
		if err != nil {
			return err
		}
		order.Name, order.URL = args[0], &args[1]
		made, err := c.CreateRepository(ctx, order)
		if err != nil {
			return err
		}
		return a.showWebhookSecret(made, asJSON)
	})
	flags.add(cmd)
	addJSONFlag(cmd, &asJSON)
	return cmd
}

// showWebhookSecret prints the secret alone to stdout, which may be a file.
func (a *app) showWebhookSecret(r api.Repository, asJSON bool) error {
	if asJSON {
		return showJSON(a.stdout, r)
	}
	fmt.Fprintf(a.stderr, "Have the git server send its webhooks to %s, signed with this secret, which is shown only now:\n",
		printable.Text(r.Webhook))
	_, err := fmt.Fprintln(a.stdout, printable.Text(r.WebhookSecret))
	return err
}

func newRepoListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:     "list",
		Short:   "List repositories",
		Long:    "List the organization's repositories by name, and how fetching them goes.",
		Example: "  holdfast repo list\n  holdfast repo list --json | jq -r 'select(.status.failures > 0) | .name'",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, c *client.Client, _ []string) error {
		return showList(ctx, a, c.Repositories(), 0, asJSON, a.repoColumns())
	})
	a.tableFlags(cmd, &asJSON)
	return cmd
}

func (a *app) repoColumns() []column[api.Repository] {
	return []column[api.Repository]{
		{"NAME", always, func(r api.Repository) string { return r.Name }},
		{"URL", always, func(r api.Repository) string { return r.URL }},
		{"BRANCHES", wide, func(r api.Repository) string { return strings.Join(r.Branches, ", ") }},
		{"CREDENTIAL", wide, func(r api.Repository) string { return r.Credential }},
		{"FETCHED", firm, func(r api.Repository) string { return a.timeOrNever(r.Status.FetchedAt) }},
		{"PROBLEM", filled, func(r api.Repository) string { return r.Status.Kind }},
	}
}

func (a *app) timeOrNever(at *time.Time) string {
	if at == nil {
		return "never"
	}
	return a.tableTime(*at)
}

func newRepoShowCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:     "show NAME",
		Short:   "Show a repository, and how fetching it goes",
		Long:    "Show a repository's settings, its branches and how fetching it goes. Credentials are never shown.",
		Example: "  holdfast repo show infra\n  holdfast repo show infra --json | jq -r '.status.heads.main'",
		Args:    cobra.ExactArgs(1),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		r, err := c.Repository(ctx, args[0])
		if err != nil {
			return err
		}
		return a.showRepo(r, asJSON)
	})
	addJSONFlag(cmd, &asJSON)
	return cmd
}

// showRepo says all that there is to say, a line for each.
func (a *app) showRepo(r api.Repository, asJSON bool) error {
	if asJSON {
		return showJSON(a.stdout, r)
	}
	lines := [][2]string{{"name", r.Name}, {"url", r.URL}, {"branches", strings.Join(r.Branches, ", ")},
		{"provider", r.Provider}, {"api", r.API}, {"poll", (time.Duration(r.Poll) * time.Second).String()},
		{"credential", r.Credential}, {"user", r.User}, {"public key", r.PublicKey}, {"app", r.App},
		{"known hosts", strings.Join(r.KnownHosts, ", ")}, {"webhook", r.Webhook},
		{"fetched", a.timeOrNever(r.Status.FetchedAt)}}
	if r.LFS {
		lines = append(lines, [2]string{"git lfs", "is downloaded"})
	}
	if r.Submodules {
		lines = append(lines, [2]string{"submodules", "are fetched and read"})
	}
	if r.Status.Failures > 0 {
		lines = append(lines, [2]string{"problem", fmt.Sprintf("%s (%d times)", r.Status.Problem, r.Status.Failures)})
	}
	if r.Status.Bytes > 0 {
		lines = append(lines, [2]string{"mirror", humanize.IBytes(uint64(r.Status.Bytes))})
	}
	for _, branch := range slices.Sorted(maps.Keys(r.Status.Heads)) {
		lines = append(lines, [2]string{"head of " + branch, r.Status.Heads[branch]})
	}
	for _, line := range lines {
		if line[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(a.stdout, "%s: %s\n", printable.Text(line[0]), printable.Lines(line[1])); err != nil {
			return err
		}
	}
	return nil
}

func newRepoFetchCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:     "fetch NAME",
		Short:   "Fetch a repository now",
		Long:    "Fetch a repository now, wait for it, and show how it went.",
		Example: "  holdfast repo fetch infra",
		Args:    cobra.ExactArgs(1),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		r, err := c.FetchRepository(ctx, args[0])
		if err != nil {
			return err
		}
		return a.showRepo(r, asJSON)
	})
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func newRepoRemoveCommand(a *app) *cobra.Command {
	var yes bool
	cmd := a.remote(&cobra.Command{
		Use:   "remove NAME",
		Short: "Take a repository away",
		Long: `Take a repository away, with its credentials. Workspaces keep what they got from it.
Asks first on a terminal; elsewhere it needs --yes.`,
		Example: "  holdfast repo remove infra --yes",
		Args:    cobra.ExactArgs(1),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		if err := a.confirm(ctx, yes, fmt.Sprintf("Remove repository %s?", printable.Text(args[0]))); err != nil {
			return err
		}
		if err := c.RemoveRepository(ctx, args[0]); err != nil {
			return err
		}
		_, err := fmt.Fprintf(a.stdout, "Repository %s is gone.\n", printable.Text(args[0]))
		return err
	})
	addYesFlag(cmd, &yes)
	return cmd
}
