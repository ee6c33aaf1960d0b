package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"filippo.io/age"

	"github.com/holdfast/holdfast/internal/durable"
)

// Archive is one to be read.
type Archive struct {
	Open  func() (io.ReadCloser, error) // by who closes it
	Index *Index                        // that was written with it; nil where nobody has it
}

// follows refuses archives that are not each the changes since the one before.
func follows(i int, before, b Begin) error {
	switch {
	case i == 0 && b.Since != "":
		return fmt.Errorf("it has only what changed since the backup %s; name that one first", b.Since)
	case i > 0 && b.Since != before.ID:
		return fmt.Errorf("it is not what changed since the backup before it (%s), but since %q", before.ID, b.Since)
	}
	return nil
}

func readOne(a Archive, who []age.Identity, begin func(Begin) (keep, error)) (Manifest, error) {
	from, err := a.Open()
	if err != nil {
		return Manifest{}, err
	}
	m, err := read(from, who, begin)
	if err == nil && a.Index != nil && a.Index.Manifest != "" && a.Index.Manifest != m.sum {
		err = errors.New("it is not the one that its index was written with; use the index of this one, or none")
	}
	return m, errors.Join(err, from.Close())
}

// Restore makes a folder of archives, the oldest first. The folder must be empty or missing. It is there whole
// when Restore returns, with what finish adds, or is as it was.
func Restore(archives []Archive, who []age.Identity, dir string, tell func(int64),
	finish func(staged string) error) (last Manifest, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return last, err
	}
	if err := isEmpty(dir); err != nil {
		return last, err
	}
	staged := filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+".restoring")
	if err := os.RemoveAll(staged); err != nil { // of a restore that was killed
		return last, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return last, err
	}
	if err := os.Mkdir(staged, 0o700); err != nil {
		return last, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(staged))
		}
	}()
	root, err := os.OpenRoot(staged)
	if err != nil {
		return last, err
	}
	defer root.Close()
	for i, one := range archives {
		last, err = readOne(one, who, func(b Begin) (keep, error) {
			return restorer{root, tell}.put, follows(i, last.Begin, b)
		})
		if err == nil {
			err = trim(root, last) // the next one is what changed since that
		}
		if err != nil {
			return last, fmt.Errorf("archive %d: %w", i+1, err)
		}
	}
	for _, f := range last.Files {
		if err := settle(root, f); err != nil {
			return last, err
		}
	}
	if finish != nil {
		if err := finish(staged); err != nil {
			return last, err
		}
	}
	if err := durable.SyncFolder(staged); err != nil {
		return last, err
	}
	return last, place(staged, dir)
}

// place renames the folder into its place, where an empty one may be.
func place(staged, dir string) error {
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s has to be removed and made anew, and can't be; restore into a folder in it: %w", dir, err)
	}
	return durable.Move(staged, dir)
}

func isEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s is not empty; nothing was restored", dir)
	}
	return err
}

// restorer writes parts of files.
type restorer struct {
	root *os.Root
	tell func(int64)
}

func (r restorer) put(file string, at int64, whole bool, size int64, content io.Reader) (err error) {
	flags := os.O_WRONLY
	if whole {
		flags |= os.O_CREATE | os.O_EXCL
	}
	f, err := r.root.OpenFile(file, flags, 0o600)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return errTwice(file)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err := f.Stat(); err != nil || at > info.Size() {
		return errors.Join(errBehind(file), err)
	}
	n, err := io.Copy(io.NewOffsetWriter(f, at), content)
	if r.tell != nil {
		r.tell(n)
	}
	if err == nil && n != size {
		err = ErrDamaged
	}
	return err
}

// trim removes files that the manifest does not have, and cuts the others to its lengths.
func trim(root *os.Root, m Manifest) error {
	wanted := map[string]bool{}
	for _, f := range m.Files {
		wanted[f.Name] = true
		info, err := root.Lstat(f.Name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return errMissing(f.Name)
		case err != nil:
			return err
		case info.Size() < f.Size:
			return errShort(f.Name)
		case info.Size() > f.Size:
			if err := truncate(root, f); err != nil {
				return err
			}
		}
	}
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !wanted[entry.Name()] {
			if err := root.Remove(entry.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

func truncate(root *os.Root, d Described) error {
	f, err := root.OpenFile(d.Name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(d.Size), f.Close())
}

// settle compares a file's digest, and has it on disk.
func settle(root *os.Root, d Described) (err error) {
	f, err := root.OpenFile(d.Name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != d.SHA256 {
		return errOther(d.Name)
	}
	return f.Sync()
}

// What both reading and restoring refuse.
func errMissing(file string) error { return fmt.Errorf("%w: %s is missing", ErrDamaged, file) }
func errShort(file string) error   { return fmt.Errorf("%w: %s is too short", ErrDamaged, file) }
func errBehind(file string) error {
	return fmt.Errorf("%w: %s changes behind its end", ErrDamaged, file)
}
func errTwice(file string) error {
	return fmt.Errorf("%w: %s is there twice, or changed and not there", ErrDamaged, file)
}
func errOther(file string) error {
	return fmt.Errorf("%w: %s is not what its manifest says", ErrDamaged, file)
}
