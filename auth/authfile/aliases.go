package authfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
)

// aliasSetting names what other servers call an organization.
const aliasSetting = "alias"

// Alias is what another server calls an organization, or a project of one: GitLab's number or path
// of a project, Gitea's owner, a tenant. Addresses in that server's spelling name it.
type Alias struct {
	ID string // in any case: those servers tell none apart
	// Folder is where its states are, in front of their names; empty for nowhere in particular.
	Folder state.Name
}

// String returns it as it stands in the file.
func (a Alias) String() string {
	if a.Folder == "" {
		return a.ID
	}
	return a.ID + ":" + string(a.Folder)
}

// key is what two aliases have in common that are the same.
func (a Alias) key() string { return strings.ToLower(a.ID) }

// ParseAlias reads one alias.
func ParseAlias(text string) (Alias, error) {
	id, folder, below := strings.Cut(text, ":")
	wrong := fmt.Errorf("not an alias such as 42, 77:shop or group/project:shop: letters, digits and . _ - ~ with / " +
		"between segments, then perhaps a colon and a folder of states")
	if _, err := state.ParseFolder(id); err != nil {
		return Alias{}, wrong
	}
	if !below {
		return Alias{ID: id}, nil
	}
	if _, err := state.ParseFolder(folder); err != nil || len(folder) > maxFolder {
		return Alias{}, wrong
	}
	return Alias{ID: id, Folder: state.Name(folder)}, nil
}

// maxFolder leaves room for the names of states.
const maxFolder = 127

// aliases takes a list of them. One that stood for two organizations, or for two folders, would
// leave open whose state an address means.
func (s orgSection) aliases(value string) string {
	list, problem := readList(value)
	for _, text := range list {
		alias, err := ParseAlias(text)
		if err != nil {
			return err.Error()
		}
		if problem := first(s.p.aliases, alias.key(), "alias", s.p.number()); problem != "" {
			return problem
		}
		s.org.Aliases = append(s.org.Aliases, alias)
	}
	return problem
}

// Alias returns the folder in front of the names of states that an organization has under an alias
// of another server's. Nobody learns from it what other organizations' aliases are.
func (w *Watcher) Alias(org uuid.UUID, id string) (folder state.Name, ok bool) {
	folder, ok = w.inForce.Load().aliases[aliasOf{org, strings.ToLower(id)}]
	return folder, ok
}

// aliasOf is an alias of one organization's.
type aliasOf struct {
	org uuid.UUID
	key string
}

// AddAliases gives an organization more aliases, in a line of their own.
func (d *Document) AddAliases(org uuid.UUID, aliases ...Alias) error {
	o, err := d.organization(org)
	if err != nil || len(aliases) == 0 {
		return err
	}
	return d.insert(o.span.last+1, aliasLine(aliases)+d.lineBreak())
}

func aliasLine(aliases []Alias) string {
	texts := make([]string, len(aliases))
	for i, alias := range aliases {
		texts[i] = alias.String()
	}
	return aliasSetting + " = " + strings.Join(texts, ", ")
}

// RemoveAliases takes aliases of an organization away, whatever their folders, and a line with the
// last one of it. What the line has for a comment stays with the others.
func (d *Document) RemoveAliases(org uuid.UUID, aliases ...Alias) error {
	edited := Document{file: d.file, lines: slices.Clone(d.lines), orgs: d.orgs, keys: d.keys}
	for _, alias := range aliases {
		if err := edited.removeAlias(org, alias.ID); err != nil {
			return err
		}
	}
	*d = edited
	return nil
}

func (d *Document) removeAlias(org uuid.UUID, id string) error {
	o, err := d.organization(org)
	if err != nil {
		return err
	}
	for i := o.span.first; i <= o.span.last; i++ {
		l := d.lines[i]
		if l.kind != lineSetting || l.setting != aliasSetting {
			continue
		}
		if rest, found := withoutAlias(l.value, id); found {
			return d.replaceAliases(i, rest)
		}
	}
	return fmt.Errorf("organization %s has no alias %q", org, id)
}

// withoutAlias reads a list that was found right, and leaves one out.
func withoutAlias(value, id string) (rest []Alias, found bool) {
	list, _ := readList(value)
	for _, text := range list {
		alias, _ := ParseAlias(text)
		if strings.EqualFold(alias.ID, id) {
			found = true
			continue
		}
		rest = append(rest, alias)
	}
	return rest, found
}

func (d *Document) replaceAliases(at int, rest []Alias) error {
	if len(rest) == 0 {
		return d.become(slices.Concat(d.lines[:at], d.lines[at+1:]))
	}
	lines, l := slices.Clone(d.lines), d.lines[at]
	lines[at].text = aliasLine(rest)
	if l.comment != "" {
		lines[at].text += " ; " + l.comment
	}
	lines[at].text += ending(l.text)
	return d.become(lines)
}
