package authfile

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/holdfast/holdfast/internal/pause"
)

// Source is where the text of an auth.cfg is kept: a file, or a database that several nodes follow.
// What can be done to the text is the same in both.
type Source interface {
	// String is what people call it.
	fmt.Stringer
	// Load reads and parses the text. The error is a *FileError when it was read and refused.
	Load(ctx context.Context) (*Document, error)
	// Edit lets change work on the text as it is, and puts the result in its place: whole, and
	// after no other edit that change has not seen, which may call it again for that. When change
	// fails, nothing is written. Once Edit has returned nil the edit is durable.
	Edit(ctx context.Context, change func(*Document) error) error
}

// InFile is the auth.cfg at a path; see Load and Edit.
func InFile(path string) Source { return inFile(path) }

type inFile string

func (f inFile) String() string                          { return string(f) }
func (f inFile) Load(context.Context) (*Document, error) { return Load(string(f)) }
func (f inFile) Edit(ctx context.Context, change func(*Document) error) error {
	return Edit(ctx, string(f), change)
}

// Revision is one text of an auth.cfg in a database. The zero Revision is none.
type Revision struct {
	Number uint64 // 1 for the first, then +1
	Text   string
	At     time.Time // by the database's clock
	By     string    // which program of which machine wrote it
}

// Revisions is a database with the texts of an auth.cfg one after another, of which the newest
// counts. It may forget old ones.
type Revisions interface {
	// Tip returns the newest one's number and the SHA-256 of its text in hexadecimal digits, 0
	// while there is none. It is one look-up by key.
	Tip(ctx context.Context) (number uint64, digest string, err error)
	// Newest returns it, the zero Revision while there is none. With ErrUnproven it returns the one that
	// nobody may believe, without its text.
	Newest(ctx context.Context) (Revision, error)
	// Add makes a text the newest one, durably, if the newest still is the one with the number
	// after; added says whether it was. After an error nobody knows.
	Add(ctx context.Context, after uint64, text, by string) (added bool, err error)
}

// ErrNoRevision says that a database has no auth.cfg yet.
var ErrNoRevision = errors.New("there is no auth.cfg in the database yet; `holdfast auth push FILE` brings one, " +
	"`holdfast org add NAME` begins one")

// ErrUnproven says that who wrote the newest auth.cfg does not have the master key.
var ErrUnproven = errors.New("the newest auth.cfg in the database was not written with the master key of " +
	"seal.master_key_file; `holdfast auth push --replace FILE` puts one in its place, on a machine that has that key")

// ErrUncertain says that nobody can tell whether an edit was made.
var ErrUncertain = errors.New("the answer was lost")

// ErrNoMaster says that auth.cfg is written with a master key that is not here.
var ErrNoMaster = errors.New("auth.cfg in the database is written with the nodes' master key, and no node takes one " +
	"without it; say in seal.master_key_file where it is on this machine")

// InDatabase is the auth.cfg in a database, which people call name. by says who edits it.
func InDatabase(revisions Revisions, name, by string) Source {
	return inDatabase{revisions, name, by}
}

type inDatabase struct {
	revisions Revisions
	name, by  string
}

func (d inDatabase) String() string { return d.name }

func (d inDatabase) Load(ctx context.Context) (*Document, error) {
	newest, err := d.revisions.Newest(ctx)
	if err == nil && newest.Number == 0 {
		err = ErrNoRevision
	}
	if err != nil {
		return nil, err
	}
	return Parse(d.name, newest.Text)
}

// maxEdits is how often an edit is made anew because of others.
const maxEdits = 20

func (d inDatabase) Edit(ctx context.Context, change func(*Document) error) error {
	for range maxEdits {
		had, err := d.revisions.Newest(ctx)
		if err != nil {
			return err
		}
		doc, err := Parse(d.name, had.Text)
		if err != nil {
			return err
		}
		if err := change(doc); err != nil {
			return err
		}
		if done, err := d.add(ctx, had.Number, doc.String()); done || err != nil {
			return err
		}
		if err := pause.For(ctx, rand.N(100*time.Millisecond)); err != nil {
			return err
		}
	}
	return fmt.Errorf("others edit %s all the time; try again", d.name)
}

// add writes a text. What became of a write whose answer was lost is looked up: a second try would
// find the key there that it is to add.
func (d inDatabase) add(ctx context.Context, after uint64, text string) (done bool, err error) {
	if int64(len(text)) > maxFileSize {
		return false, fmt.Errorf("%s would be larger than %d MiB", d.name, maxFileSize>>20)
	}
	done, err = d.revisions.Add(ctx, after, text, d.by)
	if err == nil {
		return done, nil
	}
	if errors.Is(err, ErrNoMaster) {
		return false, err
	}
	newest, failed := d.revisions.Newest(ctx)
	if failed == nil && newest.Number == after+1 && newest.Text == text && newest.By == d.by {
		return true, nil
	}
	return false, fmt.Errorf("%w: %s may have been edited or not, `holdfast auth pull -` shows it: %w", ErrUncertain,
		d.name, err)
}

// Replace puts a text in the place of the one that is there, unless that is another than was
// expected. It is for who brings a whole file.
func Replace(ctx context.Context, revisions Revisions, name, by, text string, expected func(Revision) error) error {
	doc, err := Parse(name, text)
	if err != nil {
		return err
	}
	had, err := revisions.Newest(ctx)
	unproven := errors.Is(err, ErrUnproven)
	if err != nil && !unproven {
		return err
	}
	if had.Number > 0 && had.Text == text && !unproven {
		return nil
	}
	if err := expected(had); err != nil {
		return err
	}
	d := inDatabase{revisions, name, by}
	done, err := d.add(ctx, had.Number, doc.String())
	if err == nil && !done {
		err = fmt.Errorf("%s was edited meanwhile; nothing was changed", name)
	}
	return err
}
