package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"

	"github.com/holdfast/holdfast/engine/diag"
)

// maxFile bounds a file of a configuration.
const maxFile = 16 << 20

// Load reads the configuration in a folder with all modules it calls, which are in local folders.
func Load(dir string) (*Module, error) { return LoadWith(dir, nil) }

// LoadWith is Load that has a fetcher bring the modules that aren't in local folders; nil for none.
func LoadWith(dir string, fetcher Fetcher) (*Module, error) {
	l := loader{parser: hclparse.NewParser(), root: dir, fetcher: fetcher}
	return l.module(dir, nil)
}

type loader struct {
	parser  *hclparse.Parser
	root    string
	fetcher Fetcher
	open    []string // the folders of the modules being read, for circles
}

func (l *loader) module(dir string, parent *Module) (*Module, error) {
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, &diag.Error{Category: diag.Configuration, Summary: fmt.Sprintf("the folder %s can't be read", dir),
			Detail: err.Error(), Err: err}
	}
	if resolved, err = filepath.Abs(resolved); err != nil {
		return nil, err
	}
	if at := slices.Index(l.open, resolved); at >= 0 {
		circle := append(slices.Clone(l.open[at:]), resolved)
		return nil, &diag.Error{Category: diag.Cycle, Summary: "modules call each other in a circle: " +
			strings.Join(circle, " -> ")}
	}
	l.open = append(l.open, resolved)
	defer func() { l.open = l.open[:len(l.open)-1] }()

	m := newModule(dir, parent)
	if m.Path, err = filepath.Rel(l.root, dir); err != nil {
		m.Path = dir
	}
	names, err := fileNames(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := l.read(m, name); err != nil {
			return nil, err
		}
	}
	for _, call := range m.SortedCalls() {
		if err := l.call(m, call); err != nil {
			return nil, err
		}
	}
	return m, m.check()
}

func newModule(dir string, parent *Module) *Module {
	return &Module{Dir: dir, Parent: parent, Variables: map[string]*Variable{}, Locals: map[string]*Local{},
		Outputs: map[string]*Output{}, Resources: map[string]*Resource{}, Calls: map[string]*Call{},
		Providers: map[string]*Provider{}, Required: map[string]Required{}}
}

// SortedCalls lists the module blocks by name.
func (m *Module) SortedCalls() []*Call {
	var all []*Call
	for _, c := range m.Calls {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *Call) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// call reads the module that a block calls.
func (l *loader) call(m *Module, call *Call) error {
	dir := filepath.Join(m.Dir, call.Source)
	if !call.Local() {
		var err error
		if dir, err = l.fetch(call); err != nil {
			return err
		}
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return diag.At(call.Range, `module "`+call.Name+`"`, "the source %q is no folder: it is looked for at %s",
			call.Source, dir)
	}
	child, err := l.module(dir, m)
	if err != nil {
		return err
	}
	call.Module = child
	return nil
}

// fileNames lists a folder's configuration files in order.
func fileNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, &diag.Error{Category: diag.Configuration, Summary: fmt.Sprintf("the folder %s can't be read", dir),
			Detail: err.Error(), Err: err}
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || format(name) == "" {
			continue
		}
		names = append(names, name)
	}
	slices.SortStableFunc(names, func(a, b string) int { return order(a) - order(b) })
	return names, nil
}

// order has the files that override others come behind those.
func order(name string) int {
	if overrides(name) {
		return 1
	}
	return 0
}

func overrides(name string) bool {
	bare := strings.TrimSuffix(name, format(name))
	return bare == "override" || strings.HasSuffix(bare, "_override")
}

// format is the ending of a configuration file's name, empty for other files.
func format(name string) string {
	for _, ending := range []string{".tf.json", ".tf.yaml", ".tf.yml", ".tf"} {
		if strings.HasSuffix(name, ending) {
			return ending
		}
	}
	return ""
}

// read adds what one of a module's files says. A file that overrides others may only say where the state is.
func (l *loader) read(m *Module, name string) error {
	path := filepath.Join(m.Dir, name)
	text, err := readFile(path)
	if err != nil {
		return err
	}
	body, err := parse(l.parser, path, text)
	if err != nil {
		return err
	}
	m.Files = append(m.Files, File{name, text})
	if overrides(name) {
		return m.override(path, body)
	}
	return m.read(body)
}

// override takes the backend of a file that overrides others, and refuses a file that has anything else.
func (m *Module) override(path string, body hcl.Body) error {
	refused := &diag.Error{Category: diag.Configuration, Summary: fmt.Sprintf("the file %s overrides more than the "+
		"backend, which isn't supported", path), Hint: "write its settings into the blocks that it changes"}
	schema := &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "terraform"}}}
	c, problems := body.Content(schema)
	if problems.HasErrors() {
		return refused
	}
	for _, b := range c.Blocks {
		inner, problems := b.Body.Content(&hcl.BodySchema{
			Blocks: []hcl.BlockHeaderSchema{{Type: "backend", LabelNames: []string{"type"}}}})
		if problems.HasErrors() {
			return refused
		}
		if len(inner.Blocks) > 0 {
			m.Backend = nil
		}
		if err := m.readSettings(b); err != nil {
			return err
		}
	}
	return nil
}

// parse reads the text of a file of any of the formats.
func parse(p *hclparse.Parser, path string, text []byte) (hcl.Body, error) {
	var f *hcl.File
	var problems hcl.Diagnostics
	switch format(path) {
	case ".tf.json":
		f, problems = p.ParseJSON(text, path)
	case ".tf.yaml", ".tf.yml":
		asJSON, err := yaml.YAMLToJSON(text)
		if err != nil {
			return nil, &diag.Error{Category: diag.Configuration, Summary: path + " isn't YAML", Detail: err.Error(), Err: err}
		}
		f, problems = p.ParseJSON(asJSON, path)
	default:
		f, problems = p.ParseHCL(text, path)
	}
	if err := diag.OfHCL(problems, ""); err != nil {
		return nil, err
	}
	return f.Body, nil
}

func readFile(path string) ([]byte, error) {
	fail := func(err error, what string) error {
		return &diag.Error{Category: diag.Configuration, Summary: fmt.Sprintf("the file %s %s", path, what), Err: err}
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fail(err, "can't be read: "+err.Error())
	case !info.Mode().IsRegular():
		return nil, fail(nil, "is no regular file")
	case info.Size() > maxFile:
		return nil, fail(nil, fmt.Sprintf("is larger than %d bytes", maxFile))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fail(err, "can't be read: "+err.Error())
	}
	if !utf8.Valid(text) {
		return nil, fail(nil, "isn't UTF-8")
	}
	return text, nil
}
