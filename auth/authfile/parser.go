package authfile

import (
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
)

// parser builds a Document line by line and collects what is wrong on the way.
type parser struct {
	doc    *Document
	faults *FileError
	// Where each of these was first seen, as line numbers.
	sections map[header]int // names in lower case
	hashes   map[string]int // withoutVersion
	sans     map[string]int
	aliases  map[string]int    // in lower case
	orgs     map[uuid.UUID]int // the index in doc
	current  section           // nil above the first one
	span     span              // of the current section
	seen     map[string]int    // its settings, by name
}

func newParser(file string, lines int) *parser {
	return &parser{
		doc:      &Document{file: file, lines: make([]line, 0, lines), keys: make(map[string]keyLines)},
		faults:   &FileError{File: file},
		sections: make(map[header]int),
		hashes:   make(map[string]int),
		sans:     make(map[string]int),
		aliases:  make(map[string]int),
		orgs:     make(map[uuid.UUID]int),
		seen:     make(map[string]int),
	}
}

func (p *parser) read(text string) {
	body := text
	if len(p.doc.lines) == 0 {
		body = strings.TrimPrefix(text, byteOrderMark)
	}
	l, problem := readLine(body)
	l.text = text
	p.doc.lines = append(p.doc.lines, l)
	if auth.HoldsKey(body) {
		if l.kind == lineSection {
			p.begin(refusedSection{p})
		}
		problem = "a key in the clear; take it out, and revoke it if others could read this file. Only a key's hash " +
			"may stand here"
	}
	switch {
	case problem != "":
		p.fault("%s", problem)
	case l.kind == lineSection:
		p.section(l)
	case l.kind == lineSetting:
		p.setting(l)
	}
}

// finish ends the last section, and with it the document.
func (p *parser) finish() {
	p.end()
	p.checkShredded()
	p.faults.sort()
}

// number is the number of the line that is being read, from 1.
func (p *parser) number() int { return len(p.doc.lines) }

func (p *parser) fault(format string, args ...any) {
	p.faults.add(p.number(), format, args...)
}

func (p *parser) setting(l line) {
	if p.current == nil {
		p.stray(l)
		return
	}
	p.span.last = p.number() - 1
	about := p.current.about()
	if first, twice := p.seen[l.setting]; twice && !slices.Contains(about.repeats, l.setting) {
		p.fault("a second %s; the first is in line %d", settingName(l.setting), first)
		return
	}
	problem, known := p.current.set(l)
	if !known {
		p.fault("an unknown setting; %s", about.has)
		return
	}
	p.seen[l.setting] = p.number()
	if problem != "" {
		p.fault("%s", problem)
	}
}

// stray reports a setting that stands above all sections.
func (p *parser) stray(l line) {
	problem := "a setting before the first [organization]"
	if l.setting == keySetting {
		if _, wrong := readHash(l.value); wrong != "" {
			problem = wrong
		}
	}
	p.fault("%s", problem)
}

// settingName is what messages call a setting that is known. A claim's name is the
// file's own and stays out of them.
func settingName(setting string) string {
	if strings.HasPrefix(setting, claimPrefix) {
		return "pattern for the same claim"
	}
	return setting
}

// hash reads a key's hash, which nothing else in the file may have.
func (p *parser) hash(l line) (keyring.StoredKey, string) {
	cost, problem := readHash(l.value)
	if problem != "" {
		return keyring.StoredKey{}, problem
	}
	if problem := first(p.hashes, withoutVersion(l.value), "hash", p.number()); problem != "" {
		return keyring.StoredKey{}, problem
	}
	return keyring.StoredKey{ID: keyID(l.value), Hash: l.value, Cost: cost, Label: l.comment}, ""
}
