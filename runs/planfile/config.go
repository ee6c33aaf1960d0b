package planfile

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// The configuration in a plan file: modules.json lists the modules, with a key such as
// "network.subnets" and the folder from which the module was read; m-KEY/ has the files of that
// folder. The root module's key is empty, and its folder a dot.
const (
	configPrefix = "tfconfig/"
	modulePrefix = configPrefix + "m-"
	manifestName = configPrefix + "modules.json"
	maxManifest  = 64 << 20
)

// module is a line of the manifest. Names are matched exactly, and what is unknown is refused:
// the tools match without case, and could see another folder.
type module struct {
	Key     string `json:"Key"`
	Source  string `json:"Source"`
	Version string `json:"Version"`
	Dir     string `json:"Dir"`
}

// readConfig hashes the configuration's files. Each must belong to a module of the manifest, and
// where two modules were read from one folder they must have the same files: else it could not
// be said what stands in that folder.
func (f *Facts) readConfig(a *archive) error {
	modules, err := readManifest(a)
	if err != nil {
		return err
	}
	files := map[string]map[string]Digest{} // by the module's key
	for _, name := range slices.Sorted(maps.Keys(a.members)) {
		rest, ok := strings.CutPrefix(name, modulePrefix)
		if !ok {
			continue
		}
		key, file := path.Split(rest)
		key = strings.TrimSuffix(key, "/")
		if _, known := modules[key]; !known || !strings.Contains(rest, "/") {
			return invalid("the plan file has %q of a module that its manifest does not list", name)
		}
		digest, err := hashMember(a, name)
		if err != nil {
			return err
		}
		if files[key] == nil {
			files[key] = map[string]Digest{}
		}
		files[key][file] = digest
	}
	if err := f.placeFiles(modules, files); err != nil {
		return err
	}
	f.Modules = f.digestOf(modules)
	return nil
}

func (f *Facts) placeFiles(modules map[string]module, files map[string]map[string]Digest) error {
	f.Config = map[string]Digest{}
	placed := map[string]map[string]Digest{} // by folder
	for _, key := range slices.Sorted(maps.Keys(modules)) {
		folder := path.Clean(modules[key].Dir)
		if before, twice := placed[folder]; twice {
			if !maps.Equal(before, files[key]) {
				return invalid("the plan file has the folder %q with different files for two modules", folder)
			}
			continue
		}
		placed[folder] = files[key]
		f.folders = append(f.folders, folder)
		for file, digest := range files[key] {
			f.Config[path.Join(folder, file)] = digest
		}
	}
	return nil
}

func hashMember(a *archive, name string) (digest Digest, err error) {
	sum := sha256.New()
	err = a.read(name, func(r io.Reader) error {
		_, err := io.Copy(sum, r)
		return err
	})
	return Digest(sum.Sum(nil)), err
}

func readManifest(a *archive) (map[string]module, error) {
	var list []module
	err := a.read(manifestName, func(r io.Reader) error {
		if err := json.UnmarshalRead(io.LimitReader(r, maxManifest), &list, json.RejectUnknownMembers(true)); err != nil {
			return invalid("the plan file's list of modules can't be read")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	modules := make(map[string]module, len(list))
	for _, m := range list {
		if _, twice := modules[m.Key]; twice {
			return nil, invalid("the plan file lists the module %.100q twice", m.Key)
		}
		if !folderIsPlain(m.Dir) {
			return nil, invalid("the plan file has the module %.100q in the folder %.100q, which is no relative path", m.Key,
				m.Dir)
		}
		modules[m.Key] = m
	}
	if _, hasRoot := modules[""]; !hasRoot {
		return nil, invalid("the plan file's list of modules lacks the root module")
	}
	return modules, nil
}

// folderIsPlain allows parents, because a module may stand beside the folder that the tool ran in.
func folderIsPlain(folder string) bool {
	return folder != "" && len(folder) <= maxNameLength && !path.IsAbs(folder) && !strings.ContainsAny(folder, "\\\x00")
}

// digestOf is the digest of the modules in the order of their keys, and of what was downloaded of
// them in the order of the paths.
func (f *Facts) digestOf(modules map[string]module) Digest {
	sum := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(modules)) {
		m := modules[key]
		for _, text := range []string{m.Key, m.Source, m.Version, path.Clean(m.Dir)} {
			writeText(sum, text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Config)) {
		if digest := f.Config[name]; downloaded(name) {
			writeText(sum, name)
			sum.Write(digest[:])
		}
	}
	return Digest(sum.Sum(nil))
}

// writeText writes a text with its length before it, so that no two lists of texts look the same.
func writeText(sum hash.Hash, text string) {
	sum.Write(binary.AppendUvarint(nil, uint64(len(text))))
	sum.Write([]byte(text))
}
