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

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
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

// maxFile bounds the size of a file that is looked at.
const maxFile = 16 << 20

// OtherError says that a configuration keeps its state elsewhere, or might.
type OtherError struct{ Why string }

func (e *OtherError) Error() string { return e.Why }

func otherf(format string, args ...any) error { return &OtherError{fmt.Sprintf(format, args...)} }

// Write writes the block into a configuration's folder. It is an *OtherError if the
// configuration has another backend.
func Write(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := check(folder, entry); err != nil {
			return err
		}
	}
	path := filepath.Join(folder, File)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
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
	parse := hclparse.NewParser().ParseHCLFile
	if strings.HasSuffix(name, ".json") {
		parse = hclparse.NewParser().ParseJSONFile
	}
	file, _ := parse(filepath.Join(folder, name))
	if file == nil || file.Body == nil {
		return nil // the tool says better what is wrong with it
	}
	return checkBody(name, base, file.Body)
}

// checkBody refuses another backend. What doesn't parse is left to the tool, which refuses it.
func checkBody(name, base string, body hcl.Body) error {
	content, _, _ := body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "terraform"}}})
	for _, terraform := range content.Blocks {
		inner, _, _ := terraform.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
			{Type: "backend", LabelNames: []string{"type"}}, {Type: "cloud"},
		}})
		for _, block := range inner.Blocks {
			if err := checkBlock(name, base, block); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkBlock(name, base string, block *hcl.Block) error {
	line := block.DefRange.Start.Line
	switch {
	case block.Type == "cloud":
		return otherf("the configuration keeps its state elsewhere: %s has a cloud block in line %d; remove it", name, line)
	case block.Labels[0] != "http":
		return otherf("the configuration keeps its state elsewhere: %s has backend %q in line %d; remove it", name, block.Labels[0], line)
	case base == "override" || strings.HasSuffix(base, "_override"):
		// Of several override files the last one counts, which might be this one.
		return otherf("%s overrides the backend in line %d, which a run does itself; remove it", name, line)
	}
	return nil
}

// Content returns what Write writes: a plan is made of it too.
func Content() []byte { return []byte(text) }
