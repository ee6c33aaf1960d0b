package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/keyring"
)

// rotateFlags are what the command line of key rotate says.
type rotateFlags struct {
	until, expires, label string
	asJSON                bool
}

func newKeyRotateCommand(a *app) *cobra.Command {
	var flags rotateFlags
	cmd := &cobra.Command{
		Use:   "rotate ORG KEY-ID|NAME",
		Short: "Make a new key in the place of another, which stays good for a while",
		Long: `Make a random key, print it, once, and put it in the place of another one: with its name,
role, states, addresses and expiry. The old key stays good until a day that you choose, and
no longer, in a section of its own such as ci-until-20270131.

Both happen in one edit. ` + pickedUp,
		Example: `  holdfast key rotate Acme ci
  holdfast key rotate Acme ci --until 2027-01-31 --expires 365d
  export TF_HTTP_PASSWORD=$(holdfast key rotate Acme 3f9a0c62d1e7 --until 1d)`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.rotateKey(cmd, args[0], args[1], flags)
		},
	}
	cmd.Flags().StringVar(&flags.until, "until", "7d",
		"the old key's last day (2027-01-31, in UTC), a moment (RFC 3339), or days from now (7d)")
	cmd.Flags().StringVar(&flags.expires, "expires", "",
		"another expiry for the new key, in the same forms (default: the old one's)")
	cmd.Flags().StringVar(&flags.label, "label", "", "what the new key is for")
	cmd.Flags().BoolVar(&flags.asJSON, "json", false, "print JSON")
	addAuthFlags(cmd)
	return cmd
}

// rotated is what key rotate shows: the new key, and what became of the old one.
type rotated struct {
	newKey
	Old oldKey `json:"old"`
}

type oldKey struct {
	KeyID   string `json:"key_id"`
	KeyName string `json:"key_name"`
	Expires string `json:"expires"` // the first moment that is too late
}

func (a *app) rotateKey(cmd *cobra.Command, text, which string, flags rotateFlags) error {
	rotation, err := a.rotation(flags)
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
	rotation.Hash = hash
	var old, made keyring.StoredKey
	err = a.editAuth(cmd, source, func(d *authfile.Document) (err error) {
		if err := a.checkRotation(d, org, which, rotation); err != nil {
			return err
		}
		old, made, err = d.RotateKey(org.ID, which, rotation)
		return err
	})
	if err != nil {
		return err
	}
	result := rotated{newKey{org.ID, org.Name, made.ID, key, limitsOf(made.Name, made.Grant, made.From)},
		oldKey{old.ID, old.Name, timestamp(old.Expires)}}
	if err := a.showRotated(result, flags.asJSON); err != nil {
		return fmt.Errorf("the key was made but could not be shown: %w; `holdfast key revoke %s %s` takes it away", err,
			org.ID, made.ID)
	}
	fmt.Fprintf(a.stderr, "Key %s of %s is in the place of %s, which is good %s. The new key is shown only now.\n",
		keyCalled(made), called(org), old.ID, goodUntil(old.Expires))
	return nil
}

func (a *app) rotation(flags rotateFlags) (r authfile.Rotation, err error) {
	if r.Until, err = a.deadline("until", flags.until); err != nil {
		return r, err
	}
	if flags.expires != "" {
		r.Expires, err = a.deadline("expires", flags.expires)
	}
	r.Label = a.dated(flags.label)
	return r, err
}

// checkRotation refuses what would make a key that is good for nothing.
func (a *app) checkRotation(d *authfile.Document, org authfile.Organization, which string, r authfile.Rotation) error {
	k, err := d.Key(org.ID, which)
	switch {
	case err != nil:
		return a.noSuchKey(org, which)
	case r.Expires.IsZero() && expired(k.Expires, a.now()):
		return fmt.Errorf("key %s has expired, and so would the new one have; say --expires", keyCalled(k))
	}
	return nil
}

func (a *app) noSuchKey(org authfile.Organization, which string) error {
	return fmt.Errorf("%s has no key %q; `holdfast key list %s` shows them", called(org), which, org.ID)
}

func (a *app) showRotated(r rotated, asJSON bool) error {
	if asJSON {
		return printJSON(a.stdout, r)
	}
	return a.showKey(r.newKey, false)
}

func expired(expires, now time.Time) bool { return !expires.IsZero() && !now.Before(expires) }

// goodUntil says until when something is good, for a sentence.
func goodUntil(expires time.Time) string {
	text := authfile.FormatExpiry(expires)
	if len(text) == len(time.DateOnly) {
		return "through " + text
	}
	return "until " + text
}
