package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/mod/sumdb/dirhash"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/internal/durable"
)

// LockFile is the name of the file with the versions and hashes that were chosen. It has the form that
// Terraform and OpenTofu write.
const LockFile = ".terraform.lock.hcl"

// Locked is a provider's entry in the lock file.
type Locked struct {
	Source      string   `hcl:"source,label"`
	Version     string   `hcl:"version"`
	Constraints string   `hcl:"constraints,optional"`
	Hashes      []string `hcl:"hashes,optional"`
}

// Hash is the hash of a package's files, of the kind h1.
func (p Package) Hash() (string, error) { return dirhash.HashDir(p.Folder, "", dirhash.Hash1) }

// Check fails if a package isn't the one that was locked.
func (p Package) Check(l Locked) error {
	got, err := p.Hash()
	if err != nil {
		return err
	}
	var comparable bool
	for _, h := range l.Hashes {
		if h == got {
			return nil
		}
		comparable = comparable || len(h) > 3 && h[:3] == "h1:"
	}
	if !comparable {
		return nil // other kinds of hashes are of archives, which aren't here
	}
	return &diag.Error{Category: diag.Configuration, Summary: fmt.Sprintf("the files of %s %s aren't those in %s",
		p.Provider, p.Version, LockFile), Detail: "they hash to " + got,
		Hint: "find out who changed them; holdfast engine init --upgrade takes them as they are"}
}

// ReadLocks reads a lock file. None is no error, and has no entries.
func ReadLocks(path string) (map[addr.Provider]Locked, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f, problems := hclparse.NewParser().ParseHCL(text, path)
	if err := diag.OfHCL(problems, ""); err != nil {
		return nil, err
	}
	var content struct {
		Providers []Locked `hcl:"provider,block"`
	}
	if err := diag.OfHCL(gohcl.DecodeBody(f.Body, nil, &content), "provider"); err != nil {
		return nil, err
	}
	locks := map[addr.Provider]Locked{}
	for _, l := range content.Providers {
		p, err := addr.ParseProvider(l.Source)
		if err != nil {
			return nil, err
		}
		locks[p] = l
	}
	return locks, nil
}

// WriteLocks writes a lock file.
func WriteLocks(path string, locks map[addr.Provider]Locked) error {
	f := hclwrite.NewEmptyFile()
	var sources []string
	bySource := map[string]Locked{}
	for p, l := range locks {
		sources = append(sources, p.String())
		bySource[p.String()] = l
	}
	slices.Sort(sources)
	for _, source := range sources {
		l := bySource[source]
		body := f.Body().AppendNewBlock("provider", []string{source}).Body()
		body.SetAttributeValue("version", cty.StringVal(l.Version))
		if l.Constraints != "" {
			body.SetAttributeValue("constraints", cty.StringVal(l.Constraints))
		}
		var hashes []cty.Value
		for _, h := range l.Hashes {
			hashes = append(hashes, cty.StringVal(h))
		}
		body.SetAttributeValue("hashes", cty.TupleVal(hashes))
		f.Body().AppendNewline()
	}
	return durable.Write(path, string(f.Bytes()))
}
