// Package backend sees to it that a configuration keeps its state in Holdfast: it writes the
// block that says so, and refuses a configuration that says otherwise.
//
// The block is empty, because whatever stands in it is kept in plan files, credentials included;
// address and credentials reach the tool by its environment alone.
package backend

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// File is the name of the file that is written. What an override file says counts, and it
// replaces what the configuration's own block has.
const File = stem + ".tf"

const stem = "holdfast_backend_override"

const text = `# Written for this run: the state is kept where TF_HTTP_ADDRESS says.
terraform {
  backend "http" {}
}
`

// maxFile bounds the size of a file, and maxTokens of one that names a backend.
const (
	maxFile   = 16 << 20
	maxTokens = 512 << 10
)

// OtherError says that a configuration keeps its state elsewhere, or might.
type OtherError struct{ Why string }

func (e *OtherError) Error() string { return e.Why }

func otherf(format string, args ...any) error { return &OtherError{fmt.Sprintf(format, args...)} }

// Write writes the block into a configuration's folder. It is an *OtherError if the
// configuration has another backend.
func Write(folder string) error {
	if err := Check(folder); err != nil {
		return err
	}
	path := filepath.Join(folder, File)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// Check is an *OtherError if the configuration in a folder has another backend.
func Check(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := check(folder, entry); err != nil {
			return err
		}
	}
	return nil
}

// extensions are those of the files that the tools read.
func extensions() []string { return []string{".tf", ".tf.json", ".tofu", ".tofu.json"} }

func check(folder string, entry os.DirEntry) error {
	name := entry.Name()
	i := slices.IndexFunc(extensions(), func(e string) bool { return strings.HasSuffix(name, e) })
	if i < 0 || name == File {
		return nil
	}
	base := strings.TrimSuffix(name, extensions()[i])
	if base == stem || strings.HasSuffix(name, ".json") && strings.TrimSuffix(base, ".json") == stem {
		// OpenTofu would read it in the place of ours.
		return otherf("the configuration has a file %s: that name is taken", name)
	}
	if !entry.Type().IsRegular() {
		return nil
	}
	info, err := entry.Info()
	if err != nil {
		return err
	}
	if info.Size() > maxFile {
		return otherf("the configuration's file %s has more than %d bytes", name, maxFile)
	}
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		return err
	}
	look := blocksOfHCL
	if strings.HasSuffix(name, ".json") {
		look = blocksOfJSON
	}
	blocks, err := look(name, text)
	if err != nil {
		return err
	}
	for _, b := range blocks {
		if err := b.check(name, base); err != nil {
			return err
		}
	}
	return nil
}

// block is a block of a configuration that says where the state is: backend or cloud.
type block struct {
	kind, label string
	line        int // 0 where it is not known
}

func (b block) check(name, base string) error {
	if b.line > 0 {
		name = fmt.Sprintf("line %d of %s", b.line, name)
	}
	switch {
	case b.kind == "cloud":
		return otherf("the configuration keeps its state elsewhere: there is a cloud block in %s; remove it", name)
	case b.label != "http":
		return otherf("the configuration keeps its state elsewhere: there is backend %q in %s; remove it", b.label, name)
	case base == "override" || strings.HasSuffix(base, "_override"):
		// Of several override files the last one counts, which might be this one.
		return otherf("the backend is overridden in %s, which a run does itself; remove it", name)
	}
	return nil
}

// Content returns what Write writes: a plan is made of it too.
func Content() []byte { return []byte(text) }
