package engine

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/provider/plugin"
	"github.com/holdfast/holdfast/engine/statefile"
)

// The members of a plan's file. All but savedMember are those that the clients write into theirs, so that
// what checks plan files of theirs can tell what a plan of the engine's was made of.
const (
	savedMember    = "holdfast.json"
	planMember     = "tfplan"
	stateMember    = "tfstate"
	previousMember = "tfstate-prev"
	configFolder   = "tfconfig/"
	manifestMember = configFolder + "modules.json"
)

// lockHead is the comment that the lock file in a plan begins with. It says who planned.
const lockHead = "# This file is maintained by \"holdfast engine init\".\n"

// maxSaved bounds what is read of a plan's file.
const maxSaved = 1 << 30

// Save returns a plan as it is kept in a file: what it does, and the state, configuration and lock file that
// it was made of. The version is the engine's. The file has values that are sensitive.
func Save(p *plan.Plan, version string) ([]byte, error) {
	saved, err := savedOf(p)
	if err != nil {
		return nil, err
	}
	state, err := recordedState(p)
	if err != nil {
		return nil, err
	}
	lock, err := os.ReadFile(filepath.Join(p.Root.Dir, plugin.LockFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var file bytes.Buffer
	z := zip.NewWriter(&file)
	add := func(name string, text []byte) {
		if err == nil {
			var w io.Writer
			if w, err = z.Create(name); err == nil {
				_, err = w.Write(text)
			}
		}
	}
	err = nil
	add(savedMember, saved)
	add(planMember, outlined(p, version))
	add(stateMember, state)
	add(previousMember, state)
	add(plugin.LockFile, append([]byte(lockHead), lock...))
	manifest := addModules(p.Root, manifestLine{Dir: "."}, add)
	text, problem := json.Marshal(manifest)
	add(manifestMember, text)
	err = errors.Join(err, problem, z.Close())
	return file.Bytes(), err
}

// recordedState is the state that the plan was made on. Where there was none, it has no lineage.
func recordedState(p *plan.Plan) ([]byte, error) {
	if !p.Absent {
		return p.Recorded.Bytes()
	}
	return json.Marshal(map[string]any{"version": statefile.FormatVersion, "terraform_version": statefile.ToolVersion,
		"serial": 0, "lineage": "", "outputs": map[string]any{}, "resources": []any{}})
}

// manifestLine is a module in the list of those that a plan was made of.
type manifestLine struct {
	Key    string `json:"Key"`
	Source string `json:"Source"`
	Dir    string `json:"Dir"`
}

// addModules adds the files of a module and of those that it calls.
// What was fetched stands where the clients have what their init fetches.
func addModules(m *config.Module, line manifestLine, add func(string, []byte)) []manifestLine {
	lines := []manifestLine{line}
	for _, f := range m.Files {
		add(configFolder+"m-"+line.Key+"/"+f.Name, f.Text)
	}
	for _, call := range m.SortedCalls() {
		child := manifestLine{Key: strings.TrimPrefix(line.Key+"."+call.Name, "."), Source: call.Source,
			Dir: path.Join(line.Dir, call.Source)}
		if !call.Local() {
			child.Dir = ".terraform/modules/" + child.Key
		}
		lines = append(lines, addModules(call.Module, child, add)...)
	}
	return lines
}

// The numbers of the fields of the clients' plans, of which those are written that say what a plan does. Its
// values are in the saved plan alone.
const (
	fieldVersion     = 1
	fieldChanges     = 3
	fieldTargets     = 5
	fieldBackend     = 13
	fieldToolVersion = 14
	fieldMode        = 17

	fieldDeposed   = 7
	fieldChange    = 9
	fieldAddress   = 13
	fieldPrevious  = 14
	fieldAction    = 1
	fieldImporting = 5

	planVersion = 3
)

// actionNumbers are those of the clients.
func actionNumbers() map[plan.Action]uint64 {
	return map[plan.Action]uint64{plan.NoOp: 0, plan.Create: 1, plan.Read: 2, plan.Update: 3, plan.Delete: 5,
		plan.DeleteThenCreate: 6, plan.CreateBeforeDestroy: 7, plan.Forget: 8}
}

// outlined is what a plan does, in the clients' form.
func outlined(p *plan.Plan, version string) []byte {
	var b []byte
	number := func(b []byte, field protowire.Number, n uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), n)
	}
	text := func(b []byte, field protowire.Number, text string) []byte {
		return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), text)
	}
	b = number(b, fieldVersion, planVersion)
	switch {
	case p.Options.Destroy:
		b = number(b, fieldMode, 1)
	case p.Options.RefreshOnly:
		b = number(b, fieldMode, 2)
	}
	numbers := actionNumbers()
	for _, c := range p.Changes {
		change := number(nil, fieldAction, numbers[c.Action])
		if c.Imported != "" {
			change = text(change, fieldImporting, string(text(nil, 1, c.Imported)))
		}
		line := text(nil, fieldAddress, c.Address.String())
		if c.Moved != "" {
			line = text(line, fieldPrevious, c.Moved)
		}
		if c.Deposed != "" {
			line = text(line, fieldDeposed, c.Deposed)
		}
		b = text(b, fieldChanges, string(text(line, fieldChange, string(change))))
	}
	for _, t := range p.Options.Targets {
		b = text(b, fieldTargets, t.String())
	}
	kind := "local"
	if p.Root.Backend != nil {
		kind = p.Root.Backend.Type
	}
	b = text(b, fieldBackend, string(text(text(nil, 1, kind), 3, "default")))
	return text(b, fieldToolVersion, version)
}

// savedIn reads the saved plan out of a file.
func savedIn(file []byte) ([]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(z.File, func(f *zip.File) bool { return f.Name == savedMember })
	if at < 0 {
		return nil, fmt.Errorf("it has no %s", savedMember)
	}
	r, err := z.File[at].Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxSaved+1))
	if len(text) > maxSaved {
		return nil, fmt.Errorf("it is larger than %d bytes", maxSaved)
	}
	return text, err
}
