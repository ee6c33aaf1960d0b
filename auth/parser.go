package auth

import (
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// parser builds a Document line by line and collects what is wrong on the way.
type parser struct {
	doc    *Document
	faults *FileError
	// Where each organization and hash was first seen, as line numbers.
	orgs   map[uuid.UUID]int
	hashes map[string]int // withoutVersion
	// skip is set while the section's own name is wrong: its settings are still checked,
	// but not for where they stand.
	skip bool
}

func (p *parser) read(text string) {
	body := text
	if len(p.doc.lines) == 0 {
		body = strings.TrimPrefix(text, byteOrderMark)
	}
	l, problem := readLine(body)
	l.text = text
	p.doc.lines = append(p.doc.lines, l)
	if holdsKey(body) {
		p.skip = p.skip || l.kind == lineSection
		problem = "a key in the clear; take it out, and revoke it if others could read this file. Only a key's hash may stand here"
	}
	if problem != "" {
		p.fault("%s", problem)
		return
	}
	switch l.kind {
	case lineSection:
		p.section(l)
	case lineName:
		p.name(l)
	case lineKey:
		p.key(l)
	}
}

// number is the number of the line that is being read, from 1.
func (p *parser) number() int { return len(p.doc.lines) }

func (p *parser) fault(format string, args ...any) {
	p.faults.add(p.number(), format, args...)
}

func (p *parser) section(l line) {
	id, problem := readOrgID(l.value)
	if first, twice := p.orgs[id]; problem == "" && twice {
		problem = "the same organization as in line " + strconv.Itoa(first)
	}
	p.skip = problem != ""
	if p.skip {
		p.fault("%s", problem)
		return
	}
	p.orgs[id] = p.number()
	p.doc.orgs = append(p.doc.orgs, Organization{ID: id, end: p.number() - 1})
}

// readOrgID reads a section's name. Upper case is accepted and normalised; the other
// spellings that the uuid package knows are not, so that each organization has one.
func readOrgID(name string) (uuid.UUID, string) {
	id, err := uuid.Parse(name)
	switch {
	case len(name) != 36 || err != nil:
		return uuid.Nil, "a section's name is an organization's UUID, such as [11111111-2222-3333-4444-555555555555]"
	case id == uuid.Nil:
		return uuid.Nil, "the UUID of zeros can't be an organization"
	}
	return id, ""
}

// org returns the organization that a setting belongs to, or nil after reporting that
// there is none. Under a refused section it returns nil and reports nothing more.
func (p *parser) org() *Organization {
	if p.skip {
		return nil
	}
	if len(p.doc.orgs) == 0 {
		p.fault("a setting before the first [organization]")
		return nil
	}
	o := &p.doc.orgs[len(p.doc.orgs)-1]
	o.end = p.number() - 1
	return o
}

func (p *parser) name(l line) {
	if err := CheckName(l.value); err != nil {
		p.fault("not a name: %v", err)
	}
	o := p.org()
	if o == nil {
		return
	}
	if o.nameLine > 0 {
		p.fault("a second name; the first is in line %d", o.nameLine)
		return
	}
	o.Name, o.nameLine = l.value, p.number()
}

func (p *parser) key(l line) {
	cost, problem := readHash(l.value)
	if problem != "" {
		p.fault("%s", problem)
		return
	}
	same := withoutVersion(l.value)
	if first, twice := p.hashes[same]; twice {
		p.fault("the same hash as in line %d", first)
		return
	}
	p.hashes[same] = p.number()
	if o := p.org(); o != nil {
		o.Keys = append(o.Keys, StoredKey{
			ID: keyID(l.value), Hash: l.value, Cost: cost, Label: l.comment,
			Grant: Grant{Role: Owner},
			line:  p.number() - 1,
		})
	}
}
