package authfile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth/keyring"
)

// AddOrganization appends a section. It fails when the ID is taken, or when the name is
// taken, looks like an ID (commands accept either) or can't be written to the file.
func (d *Document) AddOrganization(id uuid.UUID, name string) error {
	if o, ok := d.Find(id); ok {
		return d.taken(o)
	}
	if s, ok := d.Shredding(id); ok {
		return fmt.Errorf("%s says that everything of %s is destroyed: its section [%s%s] has to go first", d.file, id,
			shreddedPrefix, s.ID)
	}
	if err := d.checkNewName(id, name); err != nil {
		return err
	}
	br := d.lineBreak()
	text := "[" + id.String() + "]" + br + "name = " + name + br
	if len(d.lines) > 0 {
		text = br + text
	}
	return d.insert(len(d.lines), text)
}

// checkNewName reports why an organization can't have the name, or nil.
func (d *Document) checkNewName(id uuid.UUID, name string) error {
	if err := CheckName(name); err != nil {
		return fmt.Errorf("not a name for an organization: %w", err)
	}
	if _, err := uuid.Parse(name); err == nil {
		return fmt.Errorf("not a name for an organization: it looks like an ID")
	}
	for _, o := range d.orgs {
		if o.ID != id && o.Name == name {
			return d.taken(o)
		}
	}
	return nil
}

func (d *Document) taken(o Organization) error {
	return fmt.Errorf("%s already has an organization %s with the name %q", d.file, o.ID, o.Name)
}

// RenameOrganization gives an organization another name, under the rules of AddOrganization.
func (d *Document) RenameOrganization(id uuid.UUID, name string) error {
	o, err := d.organization(id)
	if err != nil {
		return err
	}
	if err := d.checkNewName(id, name); err != nil {
		return err
	}
	lines := slices.Clone(d.lines)
	for i := o.span.first; i <= o.span.last; i++ {
		if l := lines[i]; l.kind == lineSetting && l.setting == "name" {
			lines[i].text = "name = " + name + ending(l.text)
			return d.become(lines)
		}
	}
	return d.insert(o.span.first+1, "name = "+name+d.lineBreak())
}

// RemoveOrganization takes all sections of an organization out, with the comments that belong to
// them. Nobody gets in with its keys any more; what it has stored stays.
func (d *Document) RemoveOrganization(id uuid.UUID) error {
	if _, err := d.organization(id); err != nil {
		return err
	}
	rest, _ := d.without(header.isOf, id)
	return d.become(rest)
}

// without returns the lines that are left when all sections of an organization are gone that the
// condition is true of, and where the first of them stood. They are read again only then: an
// organization's other sections mean nothing without its own.
func (d *Document) without(is func(header, uuid.UUID) bool, id uuid.UUID) (left []line, at int) {
	rest, at := Document{lines: d.lines}, -1
	for section, found := rest.sectionOf(is, id); found; section, found = rest.sectionOf(is, id) {
		gone := rest.withComments(section)
		rest.lines = slices.Concat(rest.lines[:gone.first], rest.lines[gone.last+1:])
		if at < 0 {
			at = gone.first
		}
	}
	return rest.lines, at
}

// sectionOf returns where the first section of an organization stands that the condition is true of.
func (d *Document) sectionOf(is func(header, uuid.UUID) bool, id uuid.UUID) (s span, found bool) {
	for i, l := range d.lines {
		switch h, _ := readHeader(l.value); {
		case found && l.kind == lineSetting:
			s.last = i
		case found && l.kind == lineSection:
			return s, true
		case l.kind == lineSection && is(h, id):
			s, found = span{i, i}, true
		}
	}
	return s, found
}

// insert puts whole lines of text before the line with index at.
func (d *Document) insert(at int, text string) error {
	lines := slices.Clone(d.lines)
	if at == len(lines) && at > 0 && ending(lines[at-1].text) == "" {
		lines[at-1].text += d.lineBreak()
	}
	return d.become(slices.Insert(lines, at, line{text: text}))
}

// become reads the edited lines again: an edit can't produce what would be refused.
func (d *Document) become(lines []line) error {
	edited := Document{lines: lines}
	again, err := Parse(d.file, edited.String())
	if err != nil {
		return fmt.Errorf("the edit would spoil the file:\n%w", err)
	}
	*d = *again
	return nil
}

// lineBreak returns the line ending that the file uses.
func (d *Document) lineBreak() string {
	if len(d.lines) > 0 && strings.HasSuffix(d.lines[0].text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// SetRunsLocal has the server itself execute the organization's runs.
func (d *Document) SetRunsLocal(org uuid.UUID) error {
	o, err := d.organization(org)
	if err != nil || o.RunsLocal {
		return err
	}
	return d.insert(o.span.last+1, "runs_local = true"+d.lineBreak())
}

// AddKey stores the bcrypt hash of a key that may do everything under its organization,
// below the settings that are there, with label as the comment on its line. An empty
// label leaves no comment.
func (d *Document) AddKey(org uuid.UUID, hash, label string) (keyring.StoredKey, error) {
	o, err := d.organization(org)
	if err != nil {
		return keyring.StoredKey{}, err
	}
	if err := checkNewLabel(label); err != nil {
		return keyring.StoredKey{}, err
	}
	if err := d.insert(o.span.last+1, keyLine(hash, label)+d.lineBreak()); err != nil {
		return keyring.StoredKey{}, err
	}
	return d.Key(org, keyID(hash))
}

// AddNamedKey stores a key in a section of its own, below the organization's others: of k
// are used Name, Hash, Label, Grant and From. When there is no name it is the role's, with
// a number where that is taken.
func (d *Document) AddNamedKey(org uuid.UUID, k keyring.StoredKey) (keyring.StoredKey, error) {
	o, err := d.organization(org)
	if err != nil {
		return keyring.StoredKey{}, err
	}
	if k.Name == "" {
		k.Name = o.freeName(string(k.Role))
	}
	if err := CheckKeyName(k.Name); err != nil {
		return keyring.StoredKey{}, fmt.Errorf("not a name for a key: %w", err)
	}
	if o.has(k.Name) {
		return keyring.StoredKey{}, fmt.Errorf("the organization already has a key named %q", k.Name)
	}
	if err := checkNewLabel(k.Label); err != nil {
		return keyring.StoredKey{}, err
	}
	return d.addSection(o, k)
}

func (d *Document) addSection(o Organization, k keyring.StoredKey) (keyring.StoredKey, error) {
	if err := d.insert(d.belowComments(o.last+1), keySectionText(o.ID, k, d.lineBreak())); err != nil {
		return keyring.StoredKey{}, err
	}
	return d.Key(o.ID, keyID(k.Hash))
}

// Key returns the organization's key with this ID or name, in any case.
func (d *Document) Key(org uuid.UUID, text string) (keyring.StoredKey, error) {
	o, err := d.organization(org)
	if err != nil {
		return keyring.StoredKey{}, err
	}
	for _, k := range o.Keys {
		if k.ID == strings.ToLower(text) || k.Name != "" && strings.EqualFold(k.Name, text) {
			return k, nil
		}
	}
	return keyring.StoredKey{}, fmt.Errorf("organization %s has no key %q", org, text)
}

// RevokeKey removes the key with this ID or name, with its section if it has one, and
// returns how many keys the organization has left.
func (d *Document) RevokeKey(org uuid.UUID, text string) (left int, err error) {
	k, err := d.Key(org, text)
	if err != nil {
		return 0, err
	}
	gone := d.keys[k.Hash].span
	if k.Name != "" {
		gone = d.withComments(gone)
	}
	if err := d.become(slices.Concat(d.lines[:gone.first], d.lines[gone.last+1:])); err != nil {
		return 0, err
	}
	o, err := d.organization(org)
	return len(o.Keys), err
}

// Rotation says what takes the place of a key.
type Rotation struct {
	Hash, Label string    // of the new key
	Expires     time.Time // when the new one does; zero to leave what stands there
	Until       time.Time // when the old one does; if it does before, that holds
}

// RotateKey puts a new key in the place of the one with this ID or name: what its section
// says holds for it. The old one moves into a section of its own, with the same rights.
func (d *Document) RotateKey(org uuid.UUID, text string, r Rotation) (old, made keyring.StoredKey, err error) {
	edited := Document{file: d.file, lines: slices.Clone(d.lines), orgs: d.orgs, keys: d.keys}
	if old, err = edited.Key(org, text); err != nil {
		return old, made, err
	}
	if err := edited.putInPlace(old, r); err != nil {
		return old, made, err
	}
	o, err := edited.organization(org)
	if err != nil {
		return old, made, err
	}
	if old.Expires.IsZero() || r.Until.Before(old.Expires) {
		old.Expires = r.Until
	}
	old.Name = o.retiredName(old)
	if old, err = edited.addSection(o, old); err != nil {
		return old, made, err
	}
	made, err = edited.Key(org, keyID(r.Hash))
	*d = edited
	return old, made, err
}

// putInPlace writes the new key where the old one stands, and its expiry.
func (d *Document) putInPlace(old keyring.StoredKey, r Rotation) error {
	if err := checkNewLabel(r.Label); err != nil {
		return err
	}
	lines, at := slices.Clone(d.lines), d.keys[old.Hash]
	lines[at.hash].text = keyLine(r.Hash, r.Label) + ending(lines[at.hash].text)
	if r.Expires.IsZero() {
		return d.become(lines)
	}
	if old.Name == "" {
		return fmt.Errorf("a key of the organization's own section can't expire; only one with a name can")
	}
	expires := "expires = " + FormatExpiry(r.Expires)
	for i := at.span.first; i <= at.span.last; i++ {
		if lines[i].setting == "expires" {
			lines[i].text = expires + ending(lines[i].text)
			return d.become(lines)
		}
	}
	return d.become(slices.Insert(lines, at.hash, line{text: expires + d.lineBreak()}))
}

func (d *Document) organization(id uuid.UUID) (Organization, error) {
	o, ok := d.Find(id)
	if !ok {
		return o, fmt.Errorf("%s has no organization %s", d.file, id)
	}
	return o, nil
}
