package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/printable"
)

// repoFlags say what a repository is to be.
type repoFlags struct {
	url, provider, api, user, app      string
	branches                           []string
	poll                               time.Duration
	installation                       int64
	tokenFile, keyFile, knownHostsFile string
	apiTokenFile                       string
	noCredential, submodules, lfs      bool
}

func (f *repoFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.branches, "branch", nil, "branches to fetch, or patterns with one * (default: main)")
	flags.StringVar(&f.provider, "provider", "", "github, gitlab, gitea, forgejo, bitbucket, azure or plain (default: plain)")
	flags.StringVar(&f.api, "api", "", "address of the provider's API, where that doesn't follow from the URL")
	flags.DurationVar(&f.poll, "poll", 0, "how often it is fetched without a reason (default: 5m)")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with a token for an https URL, or - for stdin")
	flags.StringVar(&f.apiTokenFile, "api-token-file", "",
		"file with another token, for the provider's API, or - for stdin; an empty file takes it back")
	flags.StringVar(&f.user, "user", "", "user name that goes with the token")
	flags.StringVar(&f.keyFile, "key-file", "", "file with a private key, for ssh or of a GitHub App, or - for stdin")
	flags.StringVar(&f.knownHostsFile, "known-hosts-file", "", "file with the keys of the ssh host, as ssh-keyscan prints them")
	flags.StringVar(&f.app, "app", "", "ID of the GitHub App whose key --key-file has")
	flags.Int64Var(&f.installation, "installation", 0, "number of the App's installation (default: that of the repository)")
	flags.BoolVar(&f.submodules, "submodules", false, "fetch and read the submodules of its commits, which are left out otherwise")
	flags.BoolVar(&f.lfs, "lfs", false, "download its files of Git LFS, which are pointers otherwise")
	flags.BoolVar(&f.noCredential, "no-credential", false, "fetch it without credentials")
	cmd.MarkFlagsMutuallyExclusive("token-file", "key-file", "no-credential")
}

// change returns what the flags say.
func (f *repoFlags) change(a *app, cmd *cobra.Command) (c api.RepositoryChange, err error) {
	given := func(name string) bool { return cmd.Flags().Changed(name) }
	if given("branch") {
		c.Branches = &f.branches
	}
	if given("provider") {
		c.Provider = &f.provider
	}
	if given("api") {
		c.API = &f.api
	}
	if given("poll") {
		seconds := int64(f.poll / time.Second)
		c.Poll = &seconds
	}
	if given("submodules") {
		c.Submodules = &f.submodules
	}
	if given("lfs") {
		c.LFS = &f.lfs
	}
	if given("known-hosts-file") {
		if c.KnownHosts, err = a.secretIn(f.knownHostsFile); err != nil {
			return c, err
		}
	}
	if given("api-token-file") {
		if c.APIToken, err = a.secretIn(f.apiTokenFile); err != nil {
			return c, err
		}
	}
	return c, f.credential(a, given, &c)
}

func (f *repoFlags) credential(a *app, given func(string) bool, c *api.RepositoryChange) (err error) {
	kind := ""
	switch {
	case given("token-file"):
		kind = "token"
		c.Token, err = a.secretIn(f.tokenFile)
		c.User = &f.user
	case given("key-file"):
		kind = "deploy_key"
		c.Key, err = a.secretIn(f.keyFile)
		if given("app") {
			kind = "github_app"
			c.App, c.Installation = &f.app, &f.installation
		}
	case given("no-credential"):
		kind = "none"
	}
	if kind != "" {
		c.Credential = &kind
	}
	return err
}

// maxSecretFile is larger than any token, key or list of host keys.
const maxSecretFile = 64 << 10

// secretIn reads a file, or stdin for "-", without the end of its last line.
func (a *app) secretIn(path string) (*string, error) {
	from := a.stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		from = file
	}
	raw, err := io.ReadAll(io.LimitReader(from, maxSecretFile+1))
	if err == nil && len(raw) > maxSecretFile {
		err = fmt.Errorf("%s has more than %d bytes", path, maxSecretFile)
	}
	if err != nil {
		return nil, err
	}
	text := strings.TrimRight(string(raw), "\r\n")
	if strings.Contains(text, "\n") { // a key ends with its line
		text += "\n"
	}
	return &text, nil
}

func newRepoSetCommand(a *app) *cobra.Command {
	var flags repoFlags
	var asJSON bool
	var cmd *cobra.Command
	cmd = a.remote(&cobra.Command{
		Use:   "set NAME",
		Short: "Change a repository",
		Long: `Change what the flags say of a repository. With a URL at another host, its credentials are forgotten
unless new ones are given.`,
		Example: "  holdfast repo set infra --branch main --branch 'release/*'\n  holdfast repo set infra --token-file token",
		Args:    cobra.ExactArgs(1),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		change, err := flags.change(a, cmd)
		if err != nil {
			return err
		}
		if cmd.Flags().Changed("url") {
			change.URL = &flags.url
		}
		changed, err := c.ChangeRepository(ctx, args[0], change)
		if err != nil {
			return err
		}
		if asJSON {
			return showJSON(a.stdout, changed)
		}
		_, err = fmt.Fprintf(a.stdout, "Repository %s is changed.\n", printable.Text(changed.Name))
		return err
	})
	flags.add(cmd)
	cmd.Flags().StringVar(&flags.url, "url", "", "https or ssh URL")
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func newRepoSecretCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "secret NAME",
		Short: "Give a repository another webhook secret",
		Long: "Give a repository another webhook secret and print it, once only. Deliveries that are signed with the\n" +
			"old one are refused from then on.",
		Example: "  holdfast repo secret infra > webhook.secret",
		Args:    cobra.ExactArgs(1),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		r, err := c.RenewWebhookSecret(ctx, args[0])
		if err != nil {
			return err
		}
		return a.showWebhookSecret(r, asJSON)
	})
	addJSONFlag(cmd, &asJSON)
	return cmd
}
