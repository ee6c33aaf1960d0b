package auth

import (
	"net/netip"
	"strings"

	"github.com/google/uuid"
)

// byteOrderMark is tolerated, and kept, where some editors put it: at the very start.
const byteOrderMark = "\ufeff"

// Document is an auth.cfg that has been read and found right. It keeps every byte of the
// file, so that an edit changes nothing but what it is about. It is not safe for
// concurrent use while it is edited.
type Document struct {
	file  string
	lines []line
	orgs  []Organization
}

// Organization is one section of an auth.cfg.
type Organization struct {
	ID     uuid.UUID // never uuid.Nil
	Name   string    // may be empty; need not be unique
	Limits Limits
	// What its callers may prove themselves with, each in the order of the file.
	Keys         []StoredKey
	Tokens       []TokenRule
	Certificates []CertificateRule
	// NotifyURL is where notices about its states go; empty for nowhere. It may be a secret.
	NotifyURL string

	policies []policyRule // in the order of the file; the last one holds
	span     span         // of its own section
	last     int          // index of the last line of all of its sections, for what is added
}

// StoredKey is what is kept of a key.
type StoredKey struct {
	ID    string // 12 hex digits, derived from Hash; not a secret
	Name  string // of its own section; empty for a key in the organization's
	Hash  string // bcrypt, 60 characters
	Cost  int    // of Hash, 10 to 16
	Label string // the comment on the key's line; may be empty
	Grant
	From []netip.Prefix // where it may be used from; empty for anywhere

	span span // its section; for a key in the organization's, its line
	at   int  // index of the line with the hash
}

// span is where something stands, as indices of lines; comments above it, and below its
// last setting, are not in it.
type span struct{ first, last int }

// Parse reads the text of an auth.cfg; file is its name for messages. A file with
// anything wrong is refused as a whole: the error is a *FileError with all its faults.
func Parse(file, text string) (*Document, error) {
	p := newParser(file, strings.Count(text, "\n")+1)
	for part := range strings.Lines(text) {
		p.read(part)
	}
	p.finish()
	if err := p.faults.orNil(); err != nil {
		return nil, err
	}
	return p.doc, nil
}

// String returns the text of the file, byte for byte as it was read, plus the edits.
func (d *Document) String() string {
	var b strings.Builder
	for _, l := range d.lines {
		b.WriteString(l.text)
	}
	return b.String()
}

// Organizations returns the organizations in the order of the file. The slice belongs to
// the document: it must not be changed, and the next edit replaces it.
func (d *Document) Organizations() []Organization { return d.orgs }

// Find returns the organization with this ID.
func (d *Document) Find(id uuid.UUID) (Organization, bool) {
	for _, o := range d.orgs {
		if o.ID == id {
			return o, true
		}
	}
	return Organization{}, false
}
