package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/elsewhere"
	"github.com/holdfast/holdfast/state"
)

// The environment of what states are imported from.
const (
	envFromUser     = "HOLDFAST_FROM_USER"
	envFromPassword = "HOLDFAST_FROM_PASSWORD"
	envGitLabToken  = "GITLAB_TOKEN"
)

const importHelp = `Each version becomes one here, with the time that it had there, byte for byte, the oldest first. What
is here already is passed over, so an import that was interrupted is run again to go on, and one that
is repeated stores nothing twice. A state that was written here meanwhile is left alone: an older
version never takes the place of a newer one. Nothing is changed where the states come from.

It needs a key with the right state:import, which an owner's has. First see with --dry-run what
would be done. Stop writing to the states there before, and lock them if that can be had.`

func newImportCommand(a *app) *cobra.Command {
	cmd := newGroup("import", "Bring states here from where they were kept before, with their history")
	cmd.AddCommand(newImportFolderCommand(a), newImportHTTPCommand(a), newImportGitLabCommand(a), newImportS3Command(a),
		newImportExportCommand(a), newImportTFECommand(a))
	return cmd
}

// broughtFlags are what all imports have.
type broughtFlags struct {
	into           string
	dryRun, asJSON bool
}

func (f *broughtFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.into, "into", "", "a folder in front of the states' names here")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would be stored, and store nothing")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	cmd.Long += "\n\n" + importHelp
}

// named returns what a state is called here.
func (f broughtFlags) named(there string) (string, error) {
	name := strings.Trim(f.into+"/"+there, "/")
	_, err := state.ParseName(name)
	return name, err
}

func newImportFolderCommand(a *app) *cobra.Command {
	var flags broughtFlags
	cmd := &cobra.Command{
		Use:   "folder FOLDER [STATE…]",
		Short: "Bring the *.tfstate files in and below a folder",
		Long: `Bring the *.tfstate files in and below a folder. A state is called as its file, without .tfstate:
live/prod.tfstate is live/prod, and prod/terraform.tfstate is prod. The file that clients leave beside it,
with .backup behind the name, is the version before.`,
		Example: `  holdfast import folder ./states --dry-run
  holdfast import folder ./states --into prod
  holdfast import folder . terraform --into prod/network`,
		Args: cobra.MinimumNArgs(1),
	}
	flags.add(cmd)
	return a.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		return a.bring(ctx, c, elsewhere.NewFolder(args[0]), args[1:], flags)
	})
}

func newImportHTTPCommand(a *app) *cobra.Command {
	var flags broughtFlags
	cmd := &cobra.Command{
		Use:   "http ADDRESS NAME",
		Short: "Bring the state at another http server's address",
		Long: `Bring the state at another http server's address, as the backend's address says it. Its user name
and password come from ` + envFromUser + ` and ` + envFromPassword + ` in the environment: TF_HTTP_PASSWORD and
` + envKey + ` are never sent there. Such a server has no history to bring.`,
		Example: `  HOLDFAST_FROM_USER=ada HOLDFAST_FROM_PASSWORD=… holdfast import http https://old.example.com/state/network prod/network`,
		Args:    cobra.ExactArgs(2),
	}
	flags.add(cmd)
	return a.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		if err := checkForeignAddress(args[0]); err != nil {
			return usagef("ADDRESS: %w", err)
		}
		from := &elsewhere.HTTP{Web: elsewhere.Web{User: a.getenv(envFromUser), Password: a.getenv(envFromPassword)},
			Address: args[0]}
		flags.into = strings.Trim(flags.into+"/"+args[1], "/")
		return a.bring(ctx, c, from, nil, flags)
	})
}

// checkForeignAddress refuses what is no address of a state elsewhere. Unlike an address of a
// Holdfast it may have escapes, GitLab's group%2Fproject among them, and a query: it is sent as it is.
func checkForeignAddress(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return errors.New("not a URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return errors.New("not a URL such as https://old.example.com/state/network")
	case u.User != nil:
		return fmt.Errorf("user name and password come from %s and %s", envFromUser, envFromPassword)
	case u.Fragment != "":
		return errors.New("what follows a # is never sent to a server")
	}
	return nil
}

func newImportGitLabCommand(a *app) *cobra.Command {
	var flags broughtFlags
	from := elsewhere.GitLab{}
	cmd := &cobra.Command{
		Use:   "gitlab PROJECT [STATE…]",
		Short: "Bring the states that GitLab keeps for a project",
		Long: `Bring the states that GitLab keeps for a project, which its number or path names. The token comes
from ` + envGitLabToken + ` in the environment, and needs the scope api (or read_api) and the role Maintainer.

The times of versions are those that GitLab tells. Where it is too old to list versions it tells that of
a state's newest one only; older ones have the time at which the state was made then.`,
		Example: `  GITLAB_TOKEN=… holdfast import gitlab group/project --dry-run
  GITLAB_TOKEN=… holdfast import gitlab 77 --gitlab https://gitlab.example.com --into shop`,
		Args: cobra.MinimumNArgs(1),
	}
	cmd.Flags().StringVar(&from.Address, "gitlab", "https://gitlab.com", "GitLab's address")
	cmd.Flags().Uint64Var(&from.History, "history", 1000, "how many serials before the newest to ask for; 0 for none")
	flags.add(cmd)
	return a.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		token := a.getenv(envGitLabToken)
		if token == "" {
			return usagef("there is no token: set %s", envGitLabToken)
		}
		if _, err := readAddress(from.Address); err != nil {
			return usagef("--gitlab: %w", err)
		}
		from.Project, from.Header = args[0], map[string]string{"Private-Token": token}
		return a.bring(ctx, c, &from, args[1:], flags)
	})
}
