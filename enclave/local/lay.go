package local

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/enclave"
	"github.com/holdfast/holdfast/internal/durable"
)

const backendText = `terraform {
  backend "http" {}
}
`

// lay lays out a partition's folder: links to the user's files, and what is made for the tool. What the tool keeps
// there stays.
func lay(dir, source string, context map[string]string, inputs []enclave.Resolved) error {
	for _, made := range []string{backendFile, variableFile} {
		if _, err := os.Lstat(filepath.Join(source, made)); err == nil {
			return fmt.Errorf("%s is made for each run: give the file in %s another name", made, source)
		}
	}
	if err := copySources(dir, source); err != nil {
		return err
	}
	if err := link(dir, source); err != nil {
		return err
	}
	if err := copyLockFile(dir, source); err != nil {
		return err
	}
	return errors.Join(durable.Write(filepath.Join(dir, backendFile), backendText),
		durable.Write(filepath.Join(dir, variableFile), variables(context, inputs)))
}

// copySources keeps a copy of the user's files: the one before is there until the new one is whole.
func copySources(dir, source string) error {
	sources := filepath.Join(dir, filepath.FromSlash(sourcesDir))
	next, last := sources+".new", sources+".old"
	if err := errors.Join(settle(sources), os.RemoveAll(next), os.RemoveAll(last)); err != nil {
		return err
	}
	if err := os.CopyFS(next, notTools{os.DirFS(source)}); err != nil {
		return err
	}
	if err := os.Rename(sources, last); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(os.Rename(next, sources), os.RemoveAll(last))
}

// settle puts a copy in its place whose maker was stopped when the one before had left it.
func settle(sources string) error {
	if _, err := os.Stat(sources); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := os.Rename(sources+".new", sources)
	if errors.Is(err, fs.ErrNotExist) { // nothing was ever run
		return os.MkdirAll(sources, 0o700)
	}
	return err
}

// notTools is a folder without what the tools keep in it.
type notTools struct{ fs.FS }

// ReadDir implements fs.ReadDirFS.
func (n notTools) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(n.FS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return isTools(e.Name()) }), err
}

// isTools reports whether a file or folder of this name is the tool's own, which is not linked.
func isTools(name string) bool {
	return name == ".terraform" || name == ".git" || name == ".holdfast" || strings.HasSuffix(name, ".tfstate") ||
		strings.Contains(name, ".tfstate.")
}

// link replaces all links in a folder by those to the entries of another one.
func link(dir, source string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	source, err = filepath.Abs(source)
	if err != nil {
		return err
	}
	entries, err = os.ReadDir(source)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if isTools(e.Name()) || e.Name() == lockFile {
			continue
		}
		if err := os.Symlink(filepath.Join(source, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// dropDangling removes links that lead nowhere, because the user's file is gone: the tools would stumble over them.
func dropDangling(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if _, gone := os.Stat(name); errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, removeAny(name))
		}
	}
	return err
}

// copyLockFile copies the file that init may write: what it writes stays here.
func copyLockFile(dir, source string) error {
	text, err := os.ReadFile(filepath.Join(source, lockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return durable.Write(filepath.Join(dir, lockFile), string(text))
}

// variables is the file with what a partition is given. Sensitive values are not in it: they are never on disk.
func variables(context map[string]string, inputs []enclave.Resolved) string {
	var b strings.Builder
	b.WriteString("# nclav context - do not edit\n")
	write := func(name, value string) {
		fmt.Fprintf(&b, "%s = %s\n", name, hclwrite.TokensForValue(cty.StringVal(value)).Bytes())
	}
	for _, name := range slices.Sorted(maps.Keys(context)) {
		write(name, context[name])
	}
	b.WriteString("\n# resolved partition inputs\n")
	for _, in := range inputs {
		if !in.Sensitive {
			write(in.Name, in.Value)
		}
	}
	return b.String()
}

// restore has links that lead nowhere any more lead to the copies, and the tool know where the state is.
func restore(dir string) error {
	sources := filepath.Join(dir, filepath.FromSlash(sourcesDir))
	if err := errors.Join(settle(sources), durable.Write(filepath.Join(dir, backendFile), backendText)); err != nil {
		return err
	}
	entries, err := os.ReadDir(sources)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if _, err := os.Stat(name); err == nil || e.Name() == lockFile {
			continue
		}
		if err := removeAny(name); err != nil {
			return err
		}
		if err := os.Symlink(filepath.Join(sources, e.Name()), name); err != nil {
			return err
		}
	}
	return nil
}
