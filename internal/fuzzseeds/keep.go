package fuzzseeds

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// Loose lists the folders under root in which go test -fuzz has left seeds as files: each is
// that of one target, testdata/fuzz/FuzzX of a package.
func Loose(root string) ([]string, error) {
	var folders []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		folder := filepath.Dir(path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case entry.IsDir() || slices.Contains(folders, folder):
			return nil
		case strings.HasSuffix(filepath.ToSlash(filepath.Dir(folder)), "testdata/fuzz"):
			folders = append(folders, folder)
		}
		return nil
	})
	return folders, err
}

// Keep moves the files of one target's folder into its archive, as seeds that made it fail,
// and removes the folder. It can be repeated when it was interrupted: a seed goes only after
// the archive has it.
func Keep(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	path := folder + extension
	archive, err := read(path)
	if err != nil {
		return err
	}
	if len(archive.Files) == 0 {
		archive.Comment = fmt.Appendf(nil, "Seeds of %s; see internal/fuzzseeds.\n", filepath.Base(folder))
	}
	for _, entry := range entries {
		file := filepath.Join(folder, entry.Name())
		seed, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := add(archive, "found/"+entry.Name(), seed); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	if err := write(path, archive); err != nil {
		return err
	}
	// What came in since the folder was listed stays, and so does the folder then.
	for _, entry := range entries {
		if err := os.Remove(filepath.Join(folder, entry.Name())); err != nil {
			return err
		}
	}
	return os.Remove(folder)
}

// add appends a seed that the archive does not have yet. A seed that it has because of what it
// covers becomes one that was found.
func add(archive *txtar.Archive, name string, seed []byte) error {
	if _, err := decode(seed); err != nil {
		return err
	}
	if !bytes.HasSuffix(seed, []byte("\n")) {
		seed = append(seed, '\n')
	}
	has := func(file txtar.File) bool { return bytes.Equal(file.Data, seed) }
	if i := slices.IndexFunc(archive.Files, has); i >= 0 {
		archive.Files[i].Name = name
		return nil
	}
	archive.Files = append(archive.Files, txtar.File{Name: name, Data: seed})
	return nil
}
