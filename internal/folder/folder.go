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
	"path/filepath"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/ignore"
)

// Read lists a folder's files with their SHA-256, and what was passed over because it is a link or no regular
// file. What is ignored is left out: the usual, and what .terraformignore and .holdfastignore name.
func Read(dir string) (files []api.SnapshotFile, links []string, err error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, nil, err
	}
	if !info.IsDir() {
		return nil, nil, fmt.Errorf("%s is no folder", dir)
	}
	list := ignore.Standard()
	for _, name := range []string{".terraformignore", ".holdfastignore"} {
		if err := readIgnored(list, filepath.Join(dir, name)); err != nil {
			return nil, nil, err
		}
	}
	err = filepath.WalkDir(dir, func(full string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, full)
		if err != nil || rel == "." {
			return err
		}
		path := filepath.ToSlash(rel)
		switch {
		case list.Match(path, entry.IsDir()) && entry.IsDir():
			return fs.SkipDir
		case list.Match(path, false), entry.IsDir():
			return nil
		case !entry.Type().IsRegular():
			links = append(links, path)
			return nil
		}
		file, err := describe(full, path)
		files = append(files, file)
		return err
	})
	return files, links, err
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

func describe(full, path string) (api.SnapshotFile, error) {
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
	return api.SnapshotFile{Path: path, Executable: info.Mode()&0o100 != 0, Size: size,
		SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}
