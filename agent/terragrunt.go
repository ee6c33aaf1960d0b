package agent

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/agent/archive"
	"github.com/holdfast/holdfast/agent/backend"
)

// isTerragrunt reports whether the run's tool makes files of its own, in its init already, and calls another one.
func (s *stage) isTerragrunt() bool { return s.assignment.Tool.Name == "terragrunt" }

// checkTerragrunt refuses a unit that a run can't plan, before anything of it runs.
func (s *stage) checkTerragrunt() error {
	if !s.isTerragrunt() {
		return nil
	}
	root, err := os.OpenRoot(configIn(s.folder))
	if err != nil {
		return err
	}
	defer root.Close()
	return backend.CheckTerragrunt(root.FS(), filepath.ToSlash(s.assignment.Directory))
}

// toldJSON returns the file with the JSON that a command printed. With Terragrunt, lines of the programs that its
// configuration calls (run_cmd) stand before it: they are left out, up to the first one that begins an object.
func (s *stage) toldJSON(printed string) (string, error) {
	if !s.isTerragrunt() {
		return printed, nil
	}
	in, err := os.Open(printed)
	if err != nil {
		return "", err
	}
	defer in.Close()
	lines := bufio.NewReaderSize(in, 64<<10)
	if first, err := lines.Peek(1); err != nil || first[0] == '{' {
		return printed, nil
	}
	for first, err := lines.Peek(1); err == nil && first[0] != '{'; first, err = lines.Peek(1) {
		if _, err := readLine(lines, maxOutputsLine); err != nil {
			return printed, nil // without an object: what is wrong with it is for the server to say
		}
	}
	told := scratchIn(s.folder, artefactPlanJSON)
	return told, writeFile(told, func(f *os.File) error {
		_, err := io.Copy(f, lines)
		return err
	})
}

// moduleManifest is the file in which Terragrunt notes what it has copied from the unit to where its tool works. Only
// there is one beside what was copied: a source that has the unit's folder in it brings a copy of that, too.
const moduleManifest = ".terragrunt-module-manifest"

// isTerragruntsOwn names the files of its cache in which Terragrunt notes what it has copied from where.
func isTerragruntsOwn(name string) bool {
	return slices.Contains([]string{".terragrunt-source-version", ".terragrunt-source-manifest", moduleManifest}, name)
}

// work says where in the configuration's folder the tool works.
type work struct {
	unit   string // the workspace's folder
	source string // the folder of Terragrunt's cache that has what it made of the unit's source; empty for none
	tool   string // where the tool works: in source, or else the unit's own
}

// work finds the copy of the run's own block that Terragrunt makes in the folder that its tool works in.
func (s *stage) work() (work, error) {
	w := work{unit: path.Clean(filepath.ToSlash(s.assignment.Directory))}
	w.tool = w.unit
	if !s.isTerragrunt() {
		return w, nil
	}
	root, err := os.OpenRoot(configIn(s.folder))
	if err != nil {
		return w, err
	}
	defer root.Close()
	cache, isNoted := path.Join(w.unit, backend.TerragruntCache), false
	err = fs.WalkDir(root.FS(), cache, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != backend.File || !entry.Type().IsRegular() {
			return err
		}
		parts := strings.Split(strings.TrimPrefix(name, cache+"/"), "/")
		if len(parts) < 3 {
			return nil
		}
		source := path.Join(cache, parts[0], parts[1])
		if w.source != "" && w.source != source {
			return &unusable{"Terragrunt has made more than one folder of the unit's source"}
		}
		folder := path.Dir(name)
		_, none := fs.Stat(root.FS(), path.Join(folder, moduleManifest))
		noted := none == nil
		if w.source == "" || noted && !isNoted || noted == isNoted && len(folder) < len(w.tool) {
			w.tool, isNoted = folder, noted
		}
		w.source = source
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return w, err
}

// has reports whether a path is below the source's folder.
func (w work) has(name string) bool { return w.source != "" && strings.HasPrefix(name, w.source+"/") }

// inCache reports whether a path is below the unit's cache of Terragrunt.
func (w work) inCache(name string) bool {
	return strings.HasPrefix(name, path.Join(w.unit, backend.TerragruntCache)+"/")
}

// leadsTo reports whether a folder is the source's, or one that this is in.
func (w work) leadsTo(folder string) bool {
	return w.source != "" && strings.HasPrefix(w.source+"/", folder+"/")
}

// carried is what a file is called among those that an apply is brought: the name of the source's folder follows
// from where the unit is on this machine.
func (w work) carried(name string) string {
	if !w.has(name) {
		return name
	}
	return path.Join(w.unit, backend.TerragruntWork, strings.TrimPrefix(name, w.source))
}

// brought is where a file belongs that was carried.
func (w work) brought(name string) string {
	rest, ofSource := strings.CutPrefix(name, path.Join(w.unit, backend.TerragruntWork)+"/")
	if !ofSource || w.source == "" {
		return name
	}
	return path.Join(w.source, rest)
}

// seeTerragrunt looks at what Terragrunt's init has made. Nothing of it may keep the state elsewhere, and an apply
// goes on only with the configuration that the plan was made of. What else was made for the plan is laid over it.
func (s *stage) seeTerragrunt() error {
	if !s.isTerragrunt() {
		return nil
	}
	made, w, err := s.made()
	if err != nil {
		return err
	}
	if err := backend.Check(filepath.Join(configIn(s.folder), filepath.FromSlash(w.tool))); err != nil {
		return err
	}
	if !s.applies() {
		return nil
	}
	f, err := os.Open(s.madePath())
	if errors.Is(err, fs.ErrNotExist) {
		return s.sameConfiguration(made, w, nil)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	planned, err := archive.Sums(f, planLimits())
	if err != nil {
		return permanent(err)
	}
	if err := s.sameConfiguration(made, w, planned); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return permanent(archive.ExtractAs(f, configIn(s.folder), w.brought, planLimits()))
}

// sameConfiguration refuses an apply for which Terragrunt has made other files of configuration than for the plan.
func (s *stage) sameConfiguration(made archive.Listing, w work, planned map[string][sha256.Size]byte) error {
	for name := range made {
		if !isConfiguration(name) {
			continue
		}
		f, err := openRegular(s.folder, filepath.Join(configIn(s.folder), filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		sum := sha256.New()
		_, err = io.Copy(sum, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		was, known := planned[w.carried(name)]
		if !known || [sha256.Size]byte(sum.Sum(nil)) != was {
			return otherThanPlanned(strings.TrimPrefix(name, w.tool+"/") + " is another one now")
		}
	}
	if w.source == "" && backend.WorkDir(planned, w.unit) != w.unit {
		return otherThanPlanned("the unit's source is not there now")
	}
	return nil
}

func otherThanPlanned(why string) error {
	return &unusable{"what Terragrunt makes of the configuration is not what the plan was made of: " + why + "; plan anew"}
}
