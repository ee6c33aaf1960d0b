package planfile

import (
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/fault"
)

// Want is what a plan file must have been made of.
type Want struct {
	// Lineage and Serial are those of the state's pinned version; Absent is whether there is none.
	Lineage string
	Serial  uint64
	Absent  bool
	// Config has the digest of each file of the configuration, by its path from the
	// configuration's root, with what the agent wrote beside them; WorkDir is the folder in it
	// that the tool ran in, "" or "." for the root.
	Config  map[string]Digest
	WorkDir string
	// LockFile is the LockFileDigest of the lock file, NoLockFile if there is none.
	LockFile Digest
	// Tool is "opentofu", "terraform" or "engine".
	Tool        string
	ToolVersion string
	// Backend is the type that the plan must name, "http" if it is empty. None of its attributes
	// may be set.
	Backend string
	// Outline is that of the JSON that people see; nil while there is none yet.
	Outline *Digest
	// AllowEncrypted accepts an encrypted plan file, of which nothing can be checked.
	AllowEncrypted bool
}

// maxDetails bounds how many differences a fault lists.
const maxDetails = 20

// mismatch is one way in which a plan file is not what it must be.
type mismatch struct {
	code    fault.Code
	pointer string
	rule    string
}

// Match returns nil if the plan file was made of what it must be made of. Otherwise the fault has
// the code of the first part that differs (credentials, backend, state, configuration, lock file,
// tool, changes), and its Details list what was expected and found for all.
func (f *Facts) Match(want Want) error {
	if f.Encrypted {
		if want.AllowEncrypted {
			return nil
		}
		return fault.New(fault.PlanEncrypted,
			"the plan file is encrypted, so it can't be checked against what was to be planned")
	}
	found := slices.Concat(f.backendMismatches(want), f.stateMismatches(want), f.configMismatches(want),
		f.lockMismatches(want), f.toolMismatches(want), f.changeMismatches(want))
	if len(found) == 0 {
		return nil
	}
	err := fault.New(found[0].code, "the plan file is not of what was to be planned: %s", found[0].rule)
	for _, m := range found[:min(len(found), maxDetails)] {
		err.Details = append(err.Details, fault.Detail{Pointer: m.pointer, Rule: m.rule})
	}
	return err
}

func (f *Facts) backendMismatches(want Want) (found []mismatch) {
	expected := want.Backend
	if expected == "" {
		expected = "http"
	}
	if len(f.Backend.Credentials) > 0 {
		found = append(found, mismatch{fault.PlanCredentials, "/backend", "no credentials may be in it, but the backend's " +
			strings.Join(f.Backend.Credentials, ", ") + " are"})
	}
	if f.Backend.Type != expected || f.Backend.Workspace != "default" {
		found = append(found, mismatch{fault.PlanBackendMismatch, "/backend",
			fmt.Sprintf("expected the backend %q and its workspace \"default\", found %.100q and %.100q", expected,
				f.Backend.Type, f.Backend.Workspace)})
	}
	if len(f.Backend.Set) > len(f.Backend.Credentials) {
		found = append(found, mismatch{fault.PlanBackendMismatch, "/backend", "expected a backend without settings, found " +
			strings.Join(f.Backend.Set, ", ")})
	}
	return found
}

func (f *Facts) stateMismatches(want Want) []mismatch {
	if want.Absent {
		want.Lineage, want.Serial = "", 0
	}
	if f.Prior.Lineage == want.Lineage && f.Prior.Serial == want.Serial {
		return nil
	}
	return []mismatch{{fault.PlanStateMismatch, "/state", fmt.Sprintf("expected %s, found %s",
		describeState(want.Lineage, want.Serial), describeState(f.Prior.Lineage, f.Prior.Serial))}}
}

func describeState(lineage string, serial uint64) string {
	if lineage == "" && serial == 0 {
		return "no state"
	}
	return fmt.Sprintf("a state of lineage %.100q with serial %d", lineage, serial)
}

func (f *Facts) lockMismatches(want Want) []mismatch {
	if f.LockFile == want.LockFile {
		return nil
	}
	return []mismatch{{fault.PlanLockMismatch, "/lock_file", "expected a lock file of digest " + shown(want.LockFile) +
		", found " + shown(f.LockFile)}}
}

func (f *Facts) toolMismatches(want Want) []mismatch {
	tool := f.Tool
	if tool == "" {
		tool = want.Tool // the file does not say
	}
	if tool == want.Tool && f.ToolVersion == want.ToolVersion {
		return nil
	}
	return []mismatch{{fault.PlanToolMismatch, "/tool",
		fmt.Sprintf("expected %s %s, found %s %.100s", want.Tool, want.ToolVersion, tool, f.ToolVersion)}}
}

func (f *Facts) changeMismatches(want Want) []mismatch {
	if want.Outline == nil || f.Outline == *want.Outline {
		return nil
	}
	return []mismatch{{fault.PlanChangesMismatch, "/changes",
		"expected the changes that the plan's JSON lists, found others"}}
}

// configMismatches compares each file in the plan with the configuration's, and wants each file
// there that the tool reads of the modules' folders: a plan that leaves one out is a plan of
// something else. What init downloads (.terraform/modules) is no part of the configuration.
func (f *Facts) configMismatches(want Want) (found []mismatch) {
	add := func(name, rule string) {
		found = append(found, mismatch{fault.PlanConfigMismatch, "/config/" + escape(name), rule})
	}
	for _, name := range slices.Sorted(maps.Keys(f.Config)) {
		if downloaded(name) {
			continue
		}
		full := path.Join(want.WorkDir, name)
		expected, known := want.Config[full]
		switch digest := f.Config[name]; {
		case !known:
			add(full, fmt.Sprintf("expected no file %.200q, found one of digest %s", full, shown(digest)))
		case digest != expected:
			add(full, fmt.Sprintf("expected the file %.200q of digest %s, found %s", full, shown(expected), shown(digest)))
		}
	}
	for _, name := range f.leftOut(want) {
		add(name, fmt.Sprintf("expected the file %.200q, found none", name))
	}
	return found
}

// leftOut lists the configuration's files that the tool would have read but the plan lacks.
func (f *Facts) leftOut(want Want) (names []string) {
	read := map[string]bool{}
	for _, folder := range f.folders {
		if !downloaded(folder) {
			read[path.Join(want.WorkDir, folder)] = true
		}
	}
	present := map[string]bool{}
	for name := range f.Config {
		present[path.Join(want.WorkDir, name)] = true
	}
	for name := range want.Config {
		if read[path.Dir(name)] && isConfig(name) && !present[name] && !f.shadowed(name, want.Config) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// shadowed reports whether the tool passes over a file because OpenTofu prefers the one of the
// same name with .tofu for .tf, and Terraform does not read .tofu.
func (f *Facts) shadowed(name string, config map[string]Digest) bool {
	if strings.HasSuffix(name, ".tofu") || strings.HasSuffix(name, ".tofu.json") {
		return f.onlyTF()
	}
	stem, isJSON := strings.CutSuffix(name, ".json")
	preferred := strings.TrimSuffix(stem, ".tf") + ".tofu"
	if isJSON {
		preferred += ".json"
	}
	_, ok := config[preferred]
	return ok && !f.onlyTF()
}

// onlyTF reports whether the tool doesn't read .tofu files.
func (f *Facts) onlyTF() bool { return f.Tool == "terraform" || f.Tool == "engine" }

// isConfig reports whether the tools read a file as configuration, by its name.
func isConfig(name string) bool {
	base := path.Base(name)
	if strings.HasPrefix(base, ".") || strings.HasSuffix(base, "~") || strings.HasPrefix(base, "#") &&
		strings.HasSuffix(base, "#") {
		return false
	}
	return slices.ContainsFunc([]string{".tf", ".tf.json", ".tofu", ".tofu.json"},
		func(end string) bool { return strings.HasSuffix(base, end) })
}

func downloaded(name string) bool {
	return name == ".terraform/modules" || strings.HasPrefix(name, ".terraform/modules/")
}

func shown(digest Digest) string { return hex.EncodeToString(digest[:8]) + "…" }

// escape makes a segment of a JSON Pointer of a path.
func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
