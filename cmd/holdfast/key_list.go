package main

import (
	"cmp"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/lastuse"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/server"
)

func newKeyListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [ORG]",
		Short: "List keys",
		Long: `List the keys of one organization, or of all, and its rules for tokens and certificates:
what each is good for, until when and from where, when it was last used, and the comment
on the key's line. Neither keys nor hashes are shown. The server's log names keys by these
IDs.

A server writes down once a minute, in last-use.json under storage.path, what was used; with
auth.source = database all nodes do in the database.
Where there is no such file, when a key was last used is unknown.`,
		Example: "  holdfast key list\n  holdfast key list Acme --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			rows, err := a.listKeys(cmd, args)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(a.stdout, rows)
			}
			return a.printKeys(rows)
		},
	}
	addJSONFlag(cmd, &asJSON)
	a.addWideFlag(cmd)
	addAuthFlags(cmd)
	return cmd
}

// keyRow is one key, or one rule, as lists show it.
type keyRow struct {
	Organization uuid.UUID `json:"organization"`
	Name         string    `json:"name"`
	KeyID        string    `json:"key_id"`
	keyLimits
	Expired      bool   `json:"expired"`
	LastUsed     string `json:"last_used"` // RFC 3339, or "never", or "unknown"
	LastUsedFrom string `json:"last_used_from,omitempty"`
	Cost         int    `json:"cost,omitempty"` // of a key's bcrypt hash
	Label        string `json:"label"`
}

func (a *app) listKeys(cmd *cobra.Command, args []string) ([]keyRow, error) {
	doc, err := a.namedAuth(cmd)
	if err != nil {
		return nil, err
	}
	orgs := doc.Organizations()
	if len(args) > 0 {
		o, err := findOrg(doc, args[0])
		if err != nil {
			return nil, err
		}
		orgs = []authfile.Organization{o}
	}
	l := keyLister{now: a.now(), uses: a.lastUses(cmd), rows: []keyRow{}} // prints as [], never null
	for _, o := range orgs {
		l.addAll(o)
	}
	return l.rows, nil
}

// lastUses is what a server wrote down; nil when that can't be read. It is an extra:
// whatever is wrong with it, or with the settings that say where it is, the keys are
// still listed.
func (a *app) lastUses(cmd *cobra.Command) lastuse.Uses {
	settings, err := a.settings(cmd)
	if err != nil {
		return nil
	}
	uses, err := a.readUses(cmd, settings)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.note("Warning: when keys were last used is unknown: %v", err)
	}
	return uses
}

// readUses is what all nodes wrote down together, or the server whose folder is on this machine.
func (a *app) readUses(cmd *cobra.Command, settings configs.Settings) (lastuse.Uses, error) {
	if settings.Auth.Source != configs.AuthDatabase {
		return lastuse.Read(server.LastUsePath(settings))
	}
	shared, err := a.openAuth(cmd, settings)
	if err != nil {
		return nil, err
	}
	return shared.Uses(cmd.Context())
}

// keyLister collects rows.
type keyLister struct {
	now  time.Time
	uses lastuse.Uses
	rows []keyRow
}

func (l *keyLister) addAll(o authfile.Organization) {
	for _, k := range o.Keys {
		row := l.add(o, k.ID, limitsOf(k.Name, k.Grant, k.From), k.Grant)
		row.Cost, row.Label = k.Cost, k.Label
	}
	for _, rule := range o.Tokens {
		l.add(o, rule.ID(), limitsOf(rule.Name, rule.Grant, rule.From), rule.Grant)
	}
	for _, rule := range o.Certificates {
		l.add(o, rule.ID(), limitsOf(rule.Name, rule.Grant, rule.From), rule.Grant)
	}
}

func (l *keyLister) add(o authfile.Organization, id string, limits keyLimits, grant auth.Grant) *keyRow {
	row := keyRow{
		Organization: o.ID, Name: o.Name, KeyID: id,
		keyLimits: limits, Expired: expired(grant.Expires, l.now), LastUsed: "never",
	}
	use, used := l.uses[lastuse.Credential{Org: o.ID, ID: id}]
	switch {
	case used:
		row.LastUsed, row.LastUsedFrom = timestamp(use.At), use.From
	case l.uses == nil:
		row.LastUsed = "unknown"
	}
	l.rows = append(l.rows, row)
	return &l.rows[len(l.rows)-1]
}

func (a *app) printKeys(rows []keyRow) error {
	t := a.newTable(head{"ORGANIZATION", always}, head{"KEY", firm}, head{"NAME", always}, head{"ROLE", firm},
		head{"STATES", always},
		head{"EXPIRES", firm}, head{"FROM", wide}, head{"LAST USED", firm}, head{"LABEL", filled})
	for _, r := range rows {
		t.add(a.orgCalled(r.Organization.String(), r.Name), r.KeyID, cmp.Or(r.KeyName, "-"), r.Role, listed(r.States, "all"),
			r.expiry(), listed(r.From, "anywhere"), a.lastUse(r), r.Label)
	}
	return t.show()
}

// orgCalled is an organization's name, or enough of its ID where it has none; --wide shows both.
func (a *app) orgCalled(id, name string) string {
	if name == "" || a.wide {
		return strings.TrimSpace(a.shortID(id) + " " + name)
	}
	return name
}

func (r keyRow) expiry() string {
	expires, err := time.Parse(time.RFC3339, r.Expires)
	switch {
	case err != nil:
		return "never"
	case r.Expired:
		return authfile.FormatExpiry(expires) + " (expired)"
	}
	return authfile.FormatExpiry(expires)
}

// lastUse says when a key was used, and with --wide from where too.
func (a *app) lastUse(r keyRow) string {
	at, err := time.Parse(time.RFC3339, r.LastUsed)
	switch {
	case err != nil:
		return r.LastUsed
	case !a.wide:
		return at.UTC().Format(time.DateOnly)
	case r.LastUsedFrom == "":
		return r.LastUsed
	}
	return r.LastUsed + " from " + r.LastUsedFrom
}

func listed(list []string, otherwise string) string {
	return cmp.Or(strings.Join(list, ", "), otherwise)
}
