// Package folder lists the files of a folder that make up a configuration.
package folder

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/ignore"
)

// Read lists a folder's files with their SHA-256, and what was passed over because it is no regular file, or a link
// that leads out of the folder or in a circle. Other links are followed, as those of repositories are. What is
// ignored is left out: the usual, and what .terraformignore and .holdfastignore name.
func Read(dir string) (files []api.SnapshotFile, passed []string, err error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, nil, err
	}
	if !info.IsDir() {
		return nil, nil, fmt.Errorf("%s is no folder", dir)
	}
	r := reading{list: ignore.Standard()}
	for _, name := range []string{".terraformignore", ".holdfastignore"} {
		if err := readIgnored(r.list, filepath.Join(dir, name)); err != nil {
			return nil, nil, err
		}
	}
	if r.root, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, nil, err
	}
	err = r.walk(r.root, "", 0)
	slices.SortFunc(r.files, func(a, b api.SnapshotFile) int { return strings.Compare(a.Path, b.Path) })
	return r.files, r.passed, err
}

// What links are followed to at most: each could double what is there.
const (
	maxNested = 4 // within one another
	maxFiles  = 100_000
)

type reading struct {
	root   string
	list   *ignore.List
	files  []api.SnapshotFile
	passed []string
}

// walk lists a folder, whose files have these paths in what is read.
func (r *reading) walk(from, as string, nested int) error {
	return filepath.WalkDir(from, func(full string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, full)
		if err != nil || rel == "." {
			return err
		}
		name := path.Join(as, filepath.ToSlash(rel))
		switch {
		case r.list.Match(name, entry.IsDir()) && entry.IsDir():
			return fs.SkipDir
		case r.list.Match(name, false), entry.IsDir():
			return nil
		case entry.Type()&fs.ModeSymlink != 0:
			return r.link(full, name, nested)
		case !entry.Type().IsRegular():
			r.passed = append(r.passed, name)
			return nil
		}
		return r.add(full, name)
	})
}

func (r *reading) add(full, name string) error {
	if len(r.files) >= maxFiles {
		return fmt.Errorf("there are more than %d files, links to folders followed", maxFiles)
	}
	file, err := describe(full, name)
	r.files = append(r.files, file)
	return err
}

// link lists what a link leads to, where that is in the folder and not ignored there.
func (r *reading) link(full, name string, nested int) error {
	to, err := filepath.EvalSymlinks(full)
	if err != nil { // it leads nowhere
		r.passed = append(r.passed, name)
		return nil
	}
	info, err := os.Stat(to)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(r.root, to)
	circle := to == r.root || strings.HasPrefix(full, to+string(filepath.Separator))
	switch {
	case err != nil, !filepath.IsLocal(rel), circle, r.ignores(filepath.ToSlash(rel), info.IsDir()),
		info.IsDir() && nested >= maxNested, !info.IsDir() && !info.Mode().IsRegular():
		r.passed = append(r.passed, name)
		return nil
	case info.IsDir():
		return r.walk(to, name, nested+1)
	}
	return r.add(to, name)
}

// ignores reports whether a path, or a folder that it is in, is ignored.
func (r *reading) ignores(name string, folder bool) bool {
	for ; name != "."; name, folder = path.Dir(name), true {
		if r.list.Match(name, folder) {
			return true
		}
	}
	return false
}

func readIgnored(list *ignore.List, file string) error {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return list.Read(f)
}

func describe(full, name string) (api.SnapshotFile, error) {
	f, err := os.Open(full)
	if err != nil {
		return api.SnapshotFile{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return api.SnapshotFile{}, err
	}
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	return api.SnapshotFile{Path: name, Executable: info.Mode()&0o100 != 0, Size: size,
		SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}
