package main

import (
	"fmt"
	"net/netip"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/keyring"
)

// addFlags are what the command line of key add says.
type addFlags struct {
	name, role, states, expires, from, label string
	asJSON                                   bool
}

func newKeyAddCommand(a *app) *cobra.Command {
	var flags addFlags
	cmd := &cobra.Command{
		Use:   "add ORG",
		Short: "Make a key and print it, once",
		Long: `Make a random key for an organization, named by its ID or its name, and print it. The
auth file gets its bcrypt hash only, with the date and the label as a comment: the key
can't be shown again.

Without more it may do everything in its organization, for ever and from everywhere. Any
of --name, --role, --states, --expires and --from gives it a section of its own.

` + pickedUp,
		Example: `  holdfast key add Acme --label laptop
  holdfast key add Acme --name ci --role writer --states 'prod/*, shared/network'
  holdfast key add Acme --role reader --expires 90d --from 10.0.0.0/8,2001:db8::/32
  export TF_HTTP_PASSWORD=$(holdfast key add Acme)`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.addKey(cmd, args[0], flags) },
	}
	cmd.Flags().StringVar(&flags.name, "name", "",
		"a name for commands and lists (default, where there are limits: the role)")
	cmd.Flags().StringVar(&flags.role, "role", "", auth.RoleNames()+" (default owner)")
	cmd.Flags().StringVar(&flags.states, "states", "", "only these states, such as 'prod/*, shared/network'")
	cmd.Flags().StringVar(&flags.expires, "expires", "",
		"the last day (2027-01-31, in UTC), a moment (RFC 3339), or days from now (90d)")
	cmd.Flags().StringVar(&flags.from, "from", "",
		"only from these addresses and networks, such as 10.0.0.0/8,2001:db8::1")
	cmd.Flags().StringVar(&flags.label, "label", "", "what the key is for")
	cmd.Flags().BoolVar(&flags.asJSON, "json", false, "print JSON")
	addAuthFlags(cmd)
	return cmd
}

func (a *app) addKey(cmd *cobra.Command, text string, flags addFlags) error {
	wanted, err := a.wantedKey(cmd, flags)
	if err != nil {
		return err
	}
	_, org, source, err := a.findOrgIn(cmd, text)
	if err != nil {
		return err
	}
	key, hash, err := hashed(org.ID)
	if err != nil {
		return err
	}
	wanted.Hash, wanted.Label = hash, a.dated(flags.label)
	var stored keyring.StoredKey
	err = a.editAuth(cmd, source, func(d *authfile.Document) (err error) {
		stored, err = store(d, org.ID, wanted)
		return err
	})
	if err != nil {
		return err
	}
	made := newKey{org.ID, org.Name, stored.ID, key, limitsOf(stored.Name, stored.Grant, stored.From)}
	if err := a.showKey(made, flags.asJSON); err != nil {
		return fmt.Errorf("the key was added but could not be shown: %w; `holdfast key revoke %s %s` takes it away", err,
			org.ID, stored.ID)
	}
	fmt.Fprintf(a.stderr, "Added key %s of %s to %s. It is shown only now.\n", keyCalled(stored), called(org), source)
	return nil
}

// store adds a key: with any limit, or a name, in a section of its own.
func store(d *authfile.Document, org uuid.UUID, k keyring.StoredKey) (keyring.StoredKey, error) {
	if k.Role == "" {
		return d.AddKey(org, k.Hash, k.Label)
	}
	return d.AddNamedKey(org, k)
}

// wantedKey is the key that the flags describe. Its role is empty when they say nothing.
func (a *app) wantedKey(cmd *cobra.Command, flags addFlags) (k keyring.StoredKey, err error) {
	said := func(flag string) bool { return err == nil && cmd.Flags().Changed(flag) }
	for _, flag := range []string{"name", "role", "states", "expires", "from"} {
		if said(flag) {
			k.Role = auth.Owner
		}
	}
	if said("name") {
		k.Name, err = flags.name, explained("name", authfile.CheckKeyName(flags.name))
	}
	if said("role") {
		k.Role, err = auth.ParseRole(flags.role)
		err = explained("role", err)
	}
	if said("states") {
		k.States, err = readStates(flags.states, k.Role)
	}
	if said("expires") {
		k.Expires, err = a.deadline("expires", flags.expires)
	}
	if said("from") {
		k.From, err = readNetworks(flags.from)
	}
	return k, err
}

// readStates reads --states, which mean nothing for some roles.
func readStates(text string, role auth.Role) (*auth.Patterns, error) {
	if !role.OnStates() {
		return nil, usagef("--states: the role %s has no right on any state", role)
	}
	patterns, err := auth.ParsePatterns(text)
	return patterns, explained("states", err)
}

func readNetworks(text string) ([]netip.Prefix, error) {
	networks, err := authfile.ParseNetworks(text)
	return networks, explained("from", err)
}

// explained makes a fault of a flag's value a usage error.
func explained(flag string, err error) error {
	if err == nil {
		return nil
	}
	return usagef("--%s: %w", flag, err)
}

// keyCalled is how a person is told which key something is about.
func keyCalled(k keyring.StoredKey) string {
	if k.Name == "" {
		return k.ID
	}
	return k.Name + " (" + k.ID + ")"
}
