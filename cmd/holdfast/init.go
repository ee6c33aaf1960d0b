package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/authfile"
)

// initFlags are what the command line of init says.
type initFlags struct {
	orgName, address  string
	ifMissing, asJSON bool
}

func newInitCommand(a *app) *cobra.Command {
	var flags initFlags
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Make an auth file with a first organization and its key",
		Long: `Make an auth file (mode 0600) with a first organization and a random key, and print
the key, once, with a backend block to paste. There is no default key.

Make a master key file too, beside the data, unless there is one: it opens what is kept
encrypted there, and is never overwritten.

A running server picks the file up within a second.`,
		Example: `  holdfast init
  holdfast init --org-name Acme --address https://holdfast.example.com
  holdfast init --if-missing && holdfast serve`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.init(cmd, flags) },
	}
	cmd.Flags().StringVar(&flags.orgName, "org-name", "default", "the organization's name")
	cmd.Flags().StringVar(&flags.address, "address", "",
		"where clients reach the server (default: where the settings have it listen, http://127.0.0.1:7777)")
	cmd.Flags().BoolVar(&flags.ifMissing, "if-missing", false,
		"succeed and leave the auth file as it is when there is one")
	cmd.Flags().BoolVar(&flags.asJSON, "json", false, "print JSON")
	cmd.Flags().String("storage-path", "", "folder of all data (default: what the settings say, ./data)")
	cmd.Flags().String("seal-master-key-file", "",
		"file of the master key (default: what the settings say, master.key in the folder of all data)")
	addAuthFlags(cmd)
	return cmd
}

func (a *app) init(cmd *cobra.Command, flags initFlags) error {
	address, err := a.address(cmd, flags.address)
	if err != nil {
		return err
	}
	if err := authfile.CheckName(flags.orgName); err != nil {
		return usagef("--org-name: %w", err)
	}
	path, err := a.authFile(cmd)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil && !flags.ifMissing {
		return foundAuthFile(path)
	}
	master, err := a.ensureMaster(cmd)
	if err != nil {
		return err
	}
	made := newKey{Organization: uuid.New(), Name: flags.orgName}
	made.Key = auth.NewKey(made.Organization)
	err = authfile.Create(cmd.Context(), path, func(d *authfile.Document) error { return a.firstOrg(d, &made) })
	if errors.Is(err, fs.ErrExist) && flags.ifMissing {
		return a.showLeft(path, master, flags.asJSON)
	}
	if errors.Is(err, fs.ErrExist) {
		return foundAuthFile(path)
	}
	if err != nil {
		return err
	}
	// Only now, when it is on disk: a key that was shown must work.
	if err := a.showFirst(path, address, made, master, flags.asJSON); err != nil {
		return fmt.Errorf("%s was made but its key could not be shown: %w; `holdfast key add %s` makes another", path, err,
			made.Organization)
	}
	return nil
}

func (a *app) firstOrg(d *authfile.Document, made *newKey) error {
	hash, err := authfile.HashKey(made.Key)
	if err != nil {
		return err
	}
	if err := d.AddOrganization(made.Organization, made.Name); err != nil {
		return err
	}
	if err := d.SetRunsLocal(made.Organization); err != nil {
		return err
	}
	stored, err := d.AddKey(made.Organization, hash, a.dated("first key"))
	made.KeyID, made.keyLimits = stored.ID, limitsOf(stored.Name, stored.Grant, stored.From)
	return err
}

func foundAuthFile(path string) error {
	return fmt.Errorf("%s is there already; `holdfast org add` and `holdfast key add` extend it, --if-missing leaves "+
		"it as it is", path)
}

// address is the base of the server's URLs: the flag's, else server.public_url, else where this machine reaches it.
func (a *app) address(cmd *cobra.Command, flag string) (string, error) {
	if flag == "" {
		settings, err := a.settings(cmd)
		return cmp.Or(settings.Server.PublicURL, localURL(settings.Server)), err
	}
	address, err := readAddress(flag)
	if err != nil {
		return "", usagef("--address: %w", err)
	}
	return address, nil
}

// readAddress returns the base of the server's URLs, without a slash at its end.
func readAddress(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", errors.New("not a URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "", errors.New("not a URL such as https://holdfast.example.com")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(text, "\"${}%\\"):
		return "", errors.New("only scheme, host, port and path may be given")
	}
	return strings.TrimRight(u.String(), "/"), nil
}
