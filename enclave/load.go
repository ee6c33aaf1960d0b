package enclave

import (
	"cmp"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// What a folder may have.
const (
	maxFile       = 1 << 20 // bytes of one config.yml
	maxPartitions = 10_000
)

// configName is the file that makes a folder an enclave or a partition.
const configName = "config.yml"

// Load reads a folder. A folder with a config.yml is an enclave unless it is within one; a folder right
// below an enclave's that has one is a partition. What is wrong is returned as Faults, all of it.
func Load(folder fs.FS) (*Tree, error) {
	var faults Faults
	t := &Tree{}
	if err := t.find(folder, &faults); err != nil {
		return nil, err
	}
	if len(t.Enclaves) == 0 && len(faults) == 0 {
		faults = append(faults, Fault{configName, 0, "no folder has a config.yml: an enclave is one that has, " +
			"and a partition one right below an enclave's"})
	}
	slices.SortFunc(t.Enclaves, func(a, b *Enclave) int { return cmp.Compare(a.ID, b.ID) })
	for _, e := range t.Enclaves {
		slices.SortFunc(e.Partitions, func(a, b *Partition) int { return cmp.Compare(a.ID, b.ID) })
	}
	t.check(&faults)
	return t, faults.orNil()
}

// find reads every config.yml that says something.
func (t *Tree) find(folder fs.FS, faults *Faults) error {
	within := map[string]*Enclave{} // by folder
	count := 0
	return fs.WalkDir(folder, ".", func(dir string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !entry.IsDir():
			return nil
		case dir != "." && strings.HasPrefix(path.Base(dir), "."):
			return fs.SkipDir
		}
		above := within[path.Dir(dir)]
		text, file, err := readConfig(folder, dir, faults)
		if err != nil || text == nil {
			return err
		}
		if count++; count > maxPartitions {
			*faults = append(*faults, Fault{file, 0, "there are too many partitions"})
			return fs.SkipAll
		}
		r := reader{file, faults}
		if above != nil && dir != "." {
			above.Partitions = append(above.Partitions, r.partition(r.root(text), above, dir, folder))
			return fs.SkipDir
		}
		if outer := enclosing(within, dir); outer != nil {
			r.fault(0, "it is neither an enclave nor a partition: partitions are right below %s", outer.Dir)
			return fs.SkipDir
		}
		e := r.enclave(r.root(text), dir)
		within[dir] = e
		t.Enclaves = append(t.Enclaves, e)
		return nil
	})
}

// enclosing is the enclave in whose folder another one is; nil where there is none.
func enclosing(within map[string]*Enclave, dir string) *Enclave {
	for dir != "." {
		dir = path.Dir(dir)
		if e := within[dir]; e != nil {
			return e
		}
	}
	return nil
}

// readConfig reads a folder's config.yml; nil where there is none.
func readConfig(folder fs.FS, dir string, faults *Faults) (text []byte, file string, err error) {
	file = path.Join(dir, configName)
	if _, err := fs.Stat(folder, path.Join(dir, "config.yaml")); err == nil {
		*faults = append(*faults, Fault{path.Join(dir, "config.yaml"), 0, "it is not read: name it config.yml"})
	}
	f, err := folder.Open(file)
	if err != nil {
		if info, _ := fs.Stat(folder, dir); info != nil && isMissing(err) {
			return nil, file, nil
		}
		return nil, file, err
	}
	defer f.Close()
	text, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	if len(text) > maxFile {
		*faults = append(*faults, Fault{file, 0, "it is larger than 1 MiB"})
		return nil, file, nil
	}
	if text == nil {
		text = []byte{}
	}
	return text, file, err
}

// hasFiles reports whether a folder has files for the tools.
func hasFiles(folder fs.FS, dir string) bool {
	entries, err := fs.ReadDir(folder, dir)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !e.IsDir() && IsToolFile(e.Name())
	})
}

// IsToolFile reports whether the tools read a file of this name as a part of a configuration.
func IsToolFile(name string) bool {
	return slices.ContainsFunc([]string{".tf", ".tf.json", ".tofu", ".tofu.json"},
		func(ending string) bool { return strings.HasSuffix(name, ending) })
}
