package authfile

import (
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth/keyring"
)

// header is what a section's name says. Kind and name are empty for an organization's own
// section; the kind is empty for a key's, and the name for that of one that is shredded.
type header struct {
	org  uuid.UUID
	kind string // tokenKind, certificateKind, statesKind, shreddedKind
	name string
}

// The kinds of sub-sections that name themselves.
const (
	tokenKind       = keyring.TokenKind
	certificateKind = keyring.CertificateKind
	statesKind      = "states"
)

// isOrganization reports whether the section is an organization's own.
func (h header) isOrganization() bool { return h.kind == "" && h.name == "" }

// readHeader takes a section's name apart.
func readHeader(text string) (header, string) {
	if organization, ok := strings.CutPrefix(text, shreddedPrefix); ok {
		id, problem := readOrgID(organization)
		return header{org: id, kind: shreddedKind}, problem
	}
	organization, rest, below := strings.Cut(text, ".")
	id, problem := readOrgID(organization)
	h := header{org: id}
	if problem != "" || !below {
		return h, problem
	}
	h.name = rest
	if kind, name, ok := strings.Cut(rest, "."); ok {
		h.kind, h.name = kind, name
		if kind != tokenKind && kind != certificateKind && kind != statesKind {
			return h, "an unknown kind of section; below an organization there are [<id>.<key name>], [<id>.oidc.<name>], " +
				"[<id>.cert.<name>] and [<id>.states.<name>]"
		}
	}
	if err := CheckKeyName(h.name); err != nil {
		return h, "not a section's name: " + err.Error()
	}
	return h, ""
}

// readOrgID reads an organization's ID. Upper case is accepted and normalised; the other
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

// section begins the section that l names. One that stands in the wrong place is read all
// the same, for what else is wrong with it.
func (p *parser) section(l line) {
	h, problem := readHeader(l.value)
	if problem != "" {
		p.begin(refusedSection{p})
		p.fault("%s", problem)
		return
	}
	p.end() // before there is one more organization: it points to its own
	p.begin(p.open(h))
	what := "section"
	if h.isOrganization() {
		what = "organization"
	}
	// Two names that differ in case only would be taken for one another.
	h.name = strings.ToLower(h.name)
	if problem := first(p.sections, h, what, p.number()); problem != "" {
		p.fault("%s", problem)
	}
}

// open returns what takes the settings of the section.
func (p *parser) open(h header) section {
	if h.kind == shreddedKind {
		return &shreddedSection{p: p, made: Shredding{ID: h.org}}
	}
	if h.isOrganization() {
		p.orgs[h.org] = len(p.doc.orgs)
		p.doc.orgs = append(p.doc.orgs, Organization{Organization: keyring.Organization{ID: h.org}})
		return orgSection{p, &p.doc.orgs[len(p.doc.orgs)-1]}
	}
	org := &Organization{} // of nobody
	if i, ok := p.orgs[h.org]; ok {
		org = &p.doc.orgs[i]
	} else {
		p.fault("a section of an organization that does not stand above it")
	}
	limited := grantSection{p: p}
	switch h.kind {
	case tokenKind:
		return &tokenSection{grantSection: limited, org: org, rule: keyring.TokenRule{Name: h.name}}
	case certificateKind:
		return &certificateSection{grantSection: limited, org: org, rule: keyring.CertificateRule{Name: h.name}}
	case statesKind:
		return &statesSection{p: p, org: org}
	}
	return &keySection{grantSection: limited, org: org, key: keyring.StoredKey{Name: h.name}}
}

// first records the line of something that may stand in the file once, or says where it
// stood before.
func first[T comparable](lines map[T]int, thing T, what string, line int) string {
	if before, twice := lines[thing]; twice {
		return "the same " + what + " as in line " + strconv.Itoa(before)
	}
	lines[thing] = line
	return ""
}
