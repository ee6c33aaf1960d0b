package gitmirror

import (
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/holdfast/holdfast/internal/outbound"
)

// Options say what a mirror may do. Zero fields are the defaults.
type Options struct {
	Git       string         // the binary; "git" of PATH by default
	Allowed   []netip.Prefix // private networks that may be connected to
	AllowHTTP bool           // without TLS
	CAFile    string         // authorities that sign the certificates of hosts, beside the system's
	Limits    Limits

	inside bool // what is read goes on in submodules
}

// Limits bound what one repository may cost.
type Limits struct {
	Fetch  time.Duration // how long a fetch may take; 15 minutes by default
	Read   time.Duration // how long any other command may; 2 minutes by default
	Bytes  int64         // of the mirror, and of each file in it; 2 GiB by default
	Memory int64         // of each git process' addresses; 3 GiB by default
	Files  int           // of a commit; 200,000 by default
	Paths  int           // bytes of all its paths; 64 MiB by default
	Refs   int           // branches that are kept; 20,000 by default
}

// WithDefaults returns the limits with the defaults in the place of zero fields.
func (l Limits) WithDefaults() Limits {
	orElse(&l.Fetch, 15*time.Minute)
	orElse(&l.Read, 2*time.Minute)
	orElse(&l.Bytes, 2<<30)
	orElse(&l.Memory, 3<<30)
	orElse(&l.Files, 200_000)
	orElse(&l.Paths, 64<<20)
	orElse(&l.Refs, 20_000)
	return l
}

func orElse[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}

// Mirror is a bare mirror in a folder. Make it with Open.
type Mirror struct {
	folder string
	o      Options
	one    chan struct{} // who fetches has put something into it
	held   *os.File      // the lock, while somebody fetches
	dir    string        // git's, if it is not the usual one
}

// Open returns the mirror in a folder, which need not be there yet. It does nothing.
func Open(folder string, o Options) (*Mirror, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	if o.Git == "" {
		o.Git = "git"
	}
	o.Limits = o.Limits.WithDefaults()
	return &Mirror{folder: folder, o: o, one: make(chan struct{}, 1)}, nil
}

// The folder has git's own, which is made anew beside it, an empty home, a lock, and a mark while git's is not known
// to be whole.
func (m *Mirror) gitDir() string {
	if m.dir != "" {
		return m.dir
	}
	return filepath.Join(m.folder, "git")
}

func (m *Mirror) home() string    { return filepath.Join(m.folder, "home") }
func (m *Mirror) lock() string    { return filepath.Join(m.folder, "lock") }
func (m *Mirror) suspect() string { return filepath.Join(m.folder, "suspect") }

// authorities is what git trusts, where the system's authorities are not all.
func (m *Mirror) authorities() string { return filepath.Join(m.folder, "authorities.pem") }

// attributes turn off, for good measure, all that attributes in the repository could ask for: files merge as text does.
const attributes = "* -text -eol -ident -filter -working-tree-encoding -export-subst -export-ignore -diff merge\n"

// prepare returns what is to be fetched into: the mirror, or a new one that takes its place if there is none, or if
// what is there is not to be trusted. Who calls it holds the mirror.
func (m *Mirror) prepare(ctx context.Context) (*Mirror, error) {
	if err := os.MkdirAll(m.home(), 0o700); err != nil {
		return nil, err
	}
	bundle, err := outbound.Bundle(m.o.CAFile)
	if err != nil {
		return nil, err
	}
	if bundle != nil {
		if err := os.WriteFile(m.authorities(), bundle, 0o600); err != nil {
			return nil, err
		}
	}
	fresh := &Mirror{folder: m.folder, o: m.o, one: m.one, held: m.held, dir: filepath.Join(m.folder, "new")}
	if err := os.RemoveAll(fresh.dir); err != nil {
		return nil, err
	}
	if !exists(m.suspect()) && exists(filepath.Join(m.gitDir(), "HEAD")) {
		return m, errors.Join(m.tidy(), m.writeAttributes())
	}
	args := []string{"init", "--quiet", "--bare", "--template=", "--initial-branch=holdfast-none"}
	if _, err := fresh.output(ctx, args...); err != nil {
		return nil, err
	}
	return fresh, fresh.writeAttributes()
}

func (m *Mirror) writeAttributes() error {
	info := filepath.Join(m.gitDir(), "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(info, "attributes"), []byte(attributes), 0o600)
}

// replace has another one take the mirror's place. Who reads at this moment may fail, and reads again.
func (m *Mirror) replace(by *Mirror) error {
	if by == m {
		return nil
	}
	if err := os.RemoveAll(m.gitDir()); err != nil {
		return err
	}
	if err := os.Rename(by.gitDir(), m.gitDir()); err != nil {
		return err
	}
	return ignoreMissing(os.Remove(m.suspect()))
}

// doubt has the next fetch begin anew. What is there stays until that one is done.
func (m *Mirror) doubt() error { return os.WriteFile(m.suspect(), nil, 0o600) }

// tidy removes what a git process that was killed has left: locks that nobody holds, and halves of packs.
func (m *Mirror) tidy() error {
	objects := filepath.Join(m.gitDir(), "objects") + string(filepath.Separator)
	return filepath.WalkDir(m.gitDir(), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		// Elsewhere tmp_x is a branch; none has a name that ends in .lock.
		if name := d.Name(); strings.HasSuffix(name, ".lock") ||
			strings.HasPrefix(name, "tmp_") && strings.HasPrefix(path, objects) {
			return ignoreMissing(os.Remove(path))
		}
		return nil
	})
}

// Bytes returns how much room the mirror takes.
func (m *Mirror) Bytes() (total int64, err error) {
	err = filepath.WalkDir(m.gitDir(), func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return ignoreMissing(err)
		}
		info, err := d.Info()
		if err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return ignoreMissing(err)
	})
	return total, err
}

// Remove takes the mirror away, after the fetch that goes on.
func (m *Mirror) Remove(ctx context.Context) error {
	release, err := m.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	return os.RemoveAll(m.folder)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
