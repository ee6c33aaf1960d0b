package main

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/authfile"
)

func newKeyCommand(a *app) *cobra.Command {
	cmd := newGroup("key", "Add, rotate, list and revoke keys")
	cmd.AddCommand(newKeyAddCommand(a), newKeyRotateCommand(a), newKeyListCommand(a), newKeyRevokeCommand(a))
	return cmd
}

// newKey is a key as it is shown when it is made.
type newKey struct {
	Organization uuid.UUID `json:"organization"`
	Name         string    `json:"name"`
	KeyID        string    `json:"key_id"`
	Key          string    `json:"key"`
	keyLimits
}

// keyLimits are what a key is good for, as JSON shows it.
type keyLimits struct {
	KeyName string   `json:"key_name,omitempty"`
	Role    string   `json:"role"`
	States  []string `json:"states,omitempty"`
	Expires string   `json:"expires,omitempty"` // the first moment that is too late
	From    []string `json:"from,omitempty"`
}

func limitsOf(name string, grant auth.Grant, from []netip.Prefix) keyLimits {
	limits := keyLimits{KeyName: name, Role: string(grant.Role), States: grant.States.List(),
		Expires: timestamp(grant.Expires)}
	for _, network := range from {
		limits.From = append(limits.From, network.String())
	}
	return limits
}

// timestamp is a time as JSON shows it; never is empty.
func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// hashed makes a key and its hash. It is done before an edit: it is slow, and the edit
// locks.
func hashed(org uuid.UUID) (key, hash string, err error) {
	key = auth.NewKey(org)
	hash, err = authfile.HashKey(key)
	return key, hash, err
}

// showKey prints nothing but the key, so that a shell can take it.
func (a *app) showKey(made newKey, asJSON bool) error {
	if asJSON {
		return printJSON(a.stdout, made)
	}
	_, err := fmt.Fprintln(a.stdout, made.Key)
	return err
}

// dated is a key's comment in the auth file.
func (a *app) dated(label string) string {
	date := a.now().Format("2006-01-02")
	if label == "" {
		return date
	}
	return date + " " + label
}

// deadline reads the day or the moment at which something ends, or a number of days from
// now such as 90d, and returns the first moment that is too late.
func (a *app) deadline(flag, text string) (time.Time, error) {
	end, err := authfile.ParseExpiry(text)
	if days, ok := strings.CutSuffix(text, "d"); ok && err != nil {
		n, wrong := strconv.ParseUint(days, 10, 16)
		if end, err = endOfDay(a.now().AddDate(0, 0, int(n))), nil; wrong != nil || n > maxDays {
			err = fmt.Errorf("not a number of days from 0d to %dd", maxDays)
		}
	}
	switch {
	case err != nil:
		return time.Time{}, usagef("--%s: %w; 90d is ninety days from now", flag, err)
	case !end.After(a.now()):
		return time.Time{}, usagef("--%s: that is in the past", flag)
	}
	return end, nil
}

// maxDays is a hundred years.
const maxDays = 36500

// endOfDay is the first moment after a day, in UTC.
func endOfDay(t time.Time) time.Time {
	return t.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
}
