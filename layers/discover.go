package layers

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/layers/relevance"
)

// Found is a layer that was discovered, before somebody accepts it.
type Found struct {
	Name string
	Tooling
	Settings
	// Line is where holdfast.yaml has it; 0 for one that a pattern of the caller's has found.
	Line int
}

// What is looked at.
const (
	maxDeclaration = 1 << 20
	maxFound       = 10_000
)

// Discover finds the layers of a commit's tree: by holdfast.yaml, or, where there is none, or a pattern is given, by
// the folders with a configuration that the pattern matches. What is wrong with the file is returned as Faults.
func Discover(tree fs.FS, repository, branch, pattern string) ([]Found, error) {
	declared := []Declared{{Settings: Defaults()}}
	declared[0].Path, declared[0].Branch = pattern, ""
	if pattern == "" {
		text, err := readDeclaration(tree)
		if err != nil {
			return nil, err
		}
		if declared, err = ParseDeclaration(text); err != nil {
			return nil, err
		}
	} else if why := relevance.CheckPattern(pattern); why != "" || strings.Contains(pattern, "**") {
		return nil, Faults{{"pattern", 0, cmp.Or(why, "** is too much for it: name how deep it is, such as envs/*/*/")}}
	}
	return expandAll(tree, declared, repository, branch)
}

func readDeclaration(tree fs.FS) ([]byte, error) {
	f, err := tree.Open(DeclarationFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Faults{{DeclarationFile, 0, "the repository has no such file: give a pattern, such as envs/*/"}}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxDeclaration+1))
	if err == nil && len(text) > maxDeclaration {
		err = Faults{{DeclarationFile, 0, "it is larger than 1 MiB"}}
	}
	return text, err
}

// expandAll finds the folders that are meant. An entry with a name of its own comes before patterns that match its
// folder too.
func expandAll(tree fs.FS, declared []Declared, repository, branch string) ([]Found, error) {
	var all []Found
	var faults Faults
	names, taken := map[string]int{}, map[string]bool{}
	add := func(d Declared, dir string) {
		f := Found{cmp.Or(d.Name, dir), d.Tooling, d.Settings, d.Line}
		f.Path, f.Repository, f.Branch = dir, repository, cmp.Or(d.Branch, branch)
		if f.Name == "." {
			f.Name = repository
		}
		if first, twice := names[f.Name]; twice {
			faults = append(faults, Fault{DeclarationFile, d.Line, fmt.Sprintf("line %d has a layer %q too", first, f.Name)})
		}
		names[f.Name], taken[dir] = d.Line, true
		all = append(all, f)
	}
	for _, d := range declared {
		if isPattern(d.Path) {
			continue
		}
		if dir := strings.TrimSuffix(d.Path, "/"); isLayer(tree, dir) {
			add(d, dir)
		} else {
			faults = append(faults, Fault{cmp.Or(declaredFile(d), "pattern"), d.Line,
				fmt.Sprintf("the folder %s has no configuration", dir)})
		}
	}
	for _, d := range declared {
		if !isPattern(d.Path) {
			continue
		}
		dirs, err := match(tree, d.Path)
		if err != nil {
			return nil, err
		}
		for _, dir := range dirs {
			if !taken[dir] && isLayer(tree, dir) {
				add(d, dir)
			}
			if len(all) > maxFound {
				return nil, Faults{{declaredFile(d), d.Line, "it has more than 10,000 layers"}}
			}
		}
	}
	if len(faults) > 0 {
		faults.sort()
		return nil, faults
	}
	slices.SortFunc(all, func(a, b Found) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

func declaredFile(d Declared) string {
	if d.Line == 0 {
		return "pattern"
	}
	return DeclarationFile
}

// isLayer reports whether a folder has a configuration.
func isLayer(tree fs.FS, dir string) bool {
	entries, err := fs.ReadDir(tree, dir)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !e.IsDir() && relevance.IsConfiguration(e.Name())
	})
}

// match returns the folders that a pattern matches, one name after the other.
func match(tree fs.FS, pattern string) ([]string, error) {
	dirs := []string{"."}
	for part := range strings.SplitSeq(strings.TrimSuffix(pattern, "/"), "/") {
		var next []string
		for _, dir := range dirs {
			entries, err := fs.ReadDir(tree, dir)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			for _, e := range entries {
				matched, _ := path.Match(part, e.Name())
				if e.IsDir() && matched && !(strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(part, ".")) {
					next = append(next, path.Join(dir, e.Name()))
				}
			}
			if len(next) > maxFound {
				return nil, Faults{{"pattern", 0, "it matches more than 10,000 folders"}}
			}
		}
		dirs = next
	}
	return dirs, nil
}
