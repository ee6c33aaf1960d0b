package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
)

// The most that a bundle may have.
const (
	maxFiles     = 2000
	maxFileBytes = 1 << 20
)

// Limits bounds what asking rules takes. Zero fields are the defaults.
type Limits struct {
	Rule     time.Duration // for one rule; of a rule that takes longer it is said that it is broken
	Findings int           // that are kept of one rule
	// Bytes is how much the process's memory may grow while one rule is asked: one that takes more is
	// broken. 0 is for rules whose author the process may trust, and looks at nothing.
	Bytes uint64
}

func (l Limits) withDefaults() Limits {
	if l.Rule <= 0 {
		l.Rule = 5 * time.Second
	}
	if l.Findings <= 0 {
		l.Findings = 1000
	}
	return l
}

// Set is rules that can be asked. It never changes, and may be asked by several at once.
type Set struct {
	rules    []compiled
	tests    []compiled
	compiler *ast.Compiler
	digest   string
	limits   Limits
	whole    bool // whether a rule sees all of a plan, rather than the resources of its types
}

// compiled is a package with rules.
type compiled struct {
	Rule
	queries []query
	// exception asks for the names of rules that the package makes exceptions of; nil where it makes none.
	exception *query
}

// query asks for one name in a package.
type query struct {
	name     string
	severity string
	body     ast.Body
	file     string // where it stands first
	line     int
}

// denies reports whether what the query finds is an error by conftest's conventions, not a warning.
func (q query) denies() bool { return q.severity == High }

// Compile reads every file of a folder that ends in .rego, in Rego's version 1 or, where it is
// none, in version 0. The error lists all faults.
func Compile(files fs.FS, limits Limits) (*Set, error) {
	sources, err := read(files)
	if err != nil {
		return nil, err
	}
	return CompileSources(sources, limits)
}

// CompileSources is Compile of files that are in memory, by their paths.
func CompileSources(sources map[string]string, limits Limits) (*Set, error) {
	if len(sources) == 0 {
		return nil, errors.New("there is no file that ends in .rego")
	}
	modules, faults := map[string]*ast.Module{}, []error(nil)
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		module, err := parseModule(name, sources[name])
		if err != nil {
			faults = append(faults, err)
			continue
		}
		modules[name] = module
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	set := &Set{digest: digestOf(sources), limits: limits.withDefaults(), whole: true,
		compiler: ast.NewCompiler().WithCapabilities(capabilities())}
	set.compiler.Compile(modules)
	if set.compiler.Failed() {
		return nil, set.compiler.Errors
	}
	return set, set.collect(modules)
}

// capabilities are what policies may call: nothing that reaches out of the process, looks into its
// environment, or is another at each call.
func capabilities() *ast.Capabilities {
	all := ast.CapabilitiesForThisVersion()
	all.AllowNet = []string{}
	all.Builtins = slices.DeleteFunc(all.Builtins, func(b *ast.Builtin) bool {
		return b.Name == "http.send" || b.Name == "opa.runtime" || strings.HasPrefix(b.Name, "net.lookup") ||
			strings.HasPrefix(b.Name, "rand.") || strings.HasPrefix(b.Name, "uuid.") ||
			strings.HasPrefix(b.Name, "providers.")
	})
	return all
}

func read(files fs.FS) (map[string]string, error) {
	sources := map[string]string{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".rego" {
			return err
		}
		if len(sources) >= maxFiles {
			return fmt.Errorf("there are more than %d files that end in .rego", maxFiles)
		}
		if info, err := entry.Info(); err != nil || info.Size() > maxFileBytes {
			return errors.Join(err, fmt.Errorf("%s has more than %d bytes", name, maxFileBytes))
		}
		text, err := fs.ReadFile(files, name)
		sources[name] = string(text)
		return err
	})
	return sources, err
}

func parseModule(name, text string) (*ast.Module, error) {
	options := ast.ParserOptions{ProcessAnnotation: true, RegoVersion: ast.RegoV1, Capabilities: capabilities()}
	module, err := ast.ParseModuleWithOpts(name, text, options)
	if err == nil {
		return module, nil
	}
	options.RegoVersion = ast.RegoV0
	options.Capabilities = nil // those of version 0
	if old, oldErr := ast.ParseModuleWithOpts(name, text, options); oldErr == nil {
		return old, nil
	}
	return nil, err
}

// digestOf is the SHA-256 of all sources with their names.
func digestOf(sources map[string]string) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		fmt.Fprintf(sum, "%d %s %d ", len(name), name, len(sources[name]))
		sum.Write([]byte(sources[name]))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// collect finds the packages that have rules, and tests.
func (s *Set) collect(modules map[string]*ast.Module) error {
	found, tests, exceptions := map[string]*compiled{}, map[string]*compiled{}, map[string]query{}
	for _, file := range slices.Sorted(maps.Keys(modules)) {
		module := s.compiler.Modules[file]
		for _, rule := range module.Rules {
			name := rule.Head.Name.String()
			if ref := rule.Head.Ref(); len(ref) > 0 {
				name = string(ref[0].Value.(ast.Var))
			}
			pkg := module.Package.Path.String()
			severity, isVerdict := verdict(name)
			switch {
			case isVerdict:
				if err := addQuery(found, module, rule, name, severity); err != nil {
					return err
				}
			case name == "exception":
				exceptions[pkg] = queryOf(module, rule, name, "")
			case strings.HasPrefix(name, "test_"):
				if tests[pkg] == nil {
					tests[pkg] = &compiled{Rule: Rule{ID: pkg, Package: pkg}}
				}
				tests[pkg].ask(module, rule, name, "")
			}
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(found)) {
		if q, ok := exceptions[pkg]; ok {
			found[pkg].exception = &q
		}
		s.rules = append(s.rules, *found[pkg])
	}
	for _, pkg := range slices.Sorted(maps.Keys(tests)) {
		s.tests = append(s.tests, *tests[pkg])
	}
	slices.SortFunc(s.rules, func(a, b compiled) int { return strings.Compare(a.ID, b.ID) })
	return nil
}

// addQuery has a package asked for a name.
func addQuery(found map[string]*compiled, module *ast.Module, rule *ast.Rule, name, severity string) error {
	pkg := module.Package.Path.String()
	if found[pkg] == nil {
		found[pkg] = &compiled{Rule: Rule{ID: strings.TrimPrefix(pkg, "data."), Kind: "policy", Package: pkg}}
	}
	c := found[pkg]
	c.ask(module, rule, name, severity)
	for _, a := range module.Annotations {
		if a.Scope == "package" {
			return c.describe(a)
		}
	}
	return nil
}

// ask adds a query, unless it is there: a rule may have several bodies.
func (c *compiled) ask(module *ast.Module, rule *ast.Rule, name, severity string) {
	if slices.ContainsFunc(c.queries, func(q query) bool { return q.name == name }) {
		return
	}
	c.queries = append(c.queries, queryOf(module, rule, name, severity))
}

func queryOf(module *ast.Module, rule *ast.Rule, name, severity string) query {
	ref := module.Package.Path.Append(ast.StringTerm(name))
	body := ast.NewBody(ast.Equality.Expr(ast.VarTerm("result"), ast.NewTerm(ref)))
	q := query{name: name, severity: severity, body: body}
	if at := rule.Loc(); at != nil {
		q.file, q.line = at.File, at.Row
	}
	return q
}

// Rules returns the rules, by their identifiers.
func (s *Set) Rules() []Rule {
	list := make([]Rule, len(s.rules))
	for i, c := range s.rules {
		list[i] = c.Rule
		if list[i].Severity == "" && len(c.queries) > 0 {
			list[i].Severity = c.queries[0].severity
		}
	}
	return list
}

// Digest is the SHA-256 of the rules' files.
func (s *Set) Digest() string { return s.digest }
