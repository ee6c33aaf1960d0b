// Package fuzzseeds keeps the seeds of fuzz targets, one archive a target instead of one file
// a seed. The archive of FuzzX is testdata/fuzz/FuzzX.txtar, a txtar archive whose sections
// are what go test -fuzz writes as files. The name of a section says why the seed is kept:
// found/… made the target fail once and stays, covers/… reaches code that no other seed of
// the target reaches.
//
// Only tests use this package.
package fuzzseeds

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// extension is what an archive's name has behind the name of its target.
const extension = ".txtar"

// Add gives the target the seeds of its archive. A target without an archive has none. Called
// before every f.Add, it lets seed#N be the archive's section N, counted from 0.
func Add(f *testing.F) {
	f.Helper()
	path := filepath.Join("testdata", "fuzz", f.Name()+extension)
	archive, err := read(path)
	if err != nil {
		f.Fatal(err)
	}
	for _, section := range archive.Files {
		values, err := decode(section.Data)
		if err != nil {
			f.Fatalf("%s: section %s: %v", path, section.Name, err)
		}
		f.Add(values...)
	}
	f.Logf("%d seeds are the sections of %s, in their order", len(archive.Files), path)
}

// read gives the archive at a path, which is empty if there is no such file.
func read(path string) (*txtar.Archive, error) {
	archive, err := txtar.ParseFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &txtar.Archive{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read an archive of seeds: %w", err)
	}
	return archive, nil
}

// write replaces the archive at a path, so that whoever reads it sees the old or the new one.
func write(path string, archive *txtar.Archive) error {
	partial := path + ".partial"
	if err := os.WriteFile(partial, txtar.Format(archive), 0o644); err != nil {
		return err
	}
	return os.Rename(partial, path)
}
