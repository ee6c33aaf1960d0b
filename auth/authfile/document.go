// Package authfile reads, edits and watches auth.cfg: the organizations, what their callers
// prove themselves with (package keyring), and how they want their states kept.
//
// Parse makes a Document of a text, line by line; Edit changes a file under a lock; Watch
// keeps what is in force in step with it.
package authfile

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
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
	gone  []Shredding
	keys  map[string]keyLines // by hash
}

// Organization is what an auth.cfg says of one organization.
type Organization struct {
	keyring.Organization
	// RunsLocal says that the server itself executes its runs.
	RunsLocal bool
	// AuditKept is for how long entries of its audit log are kept; 0 for ever.
	AuditKept time.Duration
	// UploadsKept is for how long records of its uploads are kept; 0 for ever.
	UploadsKept time.Duration
	// Notify says where notices go.
	Notify Notify
	// Decision says who is asked about plans.
	Decision Decision
	// Aliases are what other servers call it, in the order of the file.
	Aliases []Alias

	policies []policyRule     // in the order of the file; the last one holds
	said     []Setting        // what its own section says of how states are kept
	sections []StatesSettings // the same of those of states, as they stand there
	access   auth.StateAccess // to states that no section is about; empty where nothing is said
	span     span             // of its own section
	last     int              // index of the last line of all of its sections, for what is added
}

// keyLines says where a key stands: its section, or its line for a key in the
// organization's, and the index of the line with its hash.
type keyLines struct {
	span span
	hash int
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

// Keyring returns what the document says of credentials. The document must not be edited
// afterwards.
func (d *Document) Keyring() *keyring.Keyring {
	orgs := make([]*keyring.Organization, len(d.orgs))
	for i := range d.orgs {
		orgs[i] = &d.orgs[i].Organization
	}
	return keyring.New(orgs...)
}
