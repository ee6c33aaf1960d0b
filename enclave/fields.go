package enclave

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// enclave reads an enclave's file.
func (r reader) enclave(f fields, dir string) *Enclave {
	e := &Enclave{Dir: dir, File: r.file, Handle: map[string]string{}}
	e.ID, e.line = f.id("an enclave")
	e.Name, _ = f.text("name")
	cloud, line := f.text("cloud")
	e.Cloud = Cloud(cmp.Or(cloud, string(Local)))
	if line > 0 && !slices.Contains(Clouds(), e.Cloud) {
		r.fault(line, "cloud is %q: %s are known", cloud, listed(Clouds()))
	}
	e.Region, _ = f.text("region")
	e.Identity, line = f.text("identity")
	if line > 0 && !isIdentity(e.Identity) {
		r.fault(line, "identity: %.100q is no name of a service account, role or client", e.Identity)
	}
	f.handle(e)
	f.rest("an enclave", "id", "name", "cloud", "region", "identity", "handle")
	return e
}

// isIdentity reports whether a text can be named in an address of a cloud without changing its meaning.
func isIdentity(text string) bool {
	return text != "" && len(text) <= 200 && !strings.ContainsFunc(text, func(r rune) bool {
		return !isLetter(r) && !isDigit(r) && !strings.ContainsRune("-_.+=,@/", r)
	})
}

// handle reads where in its cloud an enclave is.
func (f fields) handle(e *Enclave) {
	wanted := e.Cloud.driver().Handle()
	n, line := f.node("handle")
	if n != nil {
		in, ok := f.r.mapping(n, "handle")
		if !ok {
			return
		}
		for _, name := range wanted {
			value, at := in.text(name)
			if at > 0 && !isIdentity(value) {
				f.r.fault(at, "handle: %.100q can't be a %s", value, name)
			}
			if value != "" {
				e.Handle[name] = value
			}
		}
		in.rest("the handle of an enclave in the cloud "+string(e.Cloud), wanted...)
	}
	for _, name := range wanted {
		if e.Handle[name] == "" && slices.Contains(Clouds(), e.Cloud) {
			f.r.fault(max(line, f.line), "an enclave in the cloud %s needs handle.%s", e.Cloud, name)
		}
	}
}

// id reads a field that everything has.
func (f fields) id(what string) (string, int) {
	id, line := f.text("id")
	switch {
	case line == 0 && f.read != nil:
		f.r.fault(f.line, "%s needs an id", what)
	case line > 0 && id != "" && !isID(id):
		f.r.fault(line, "id: %.100q is none: letters, digits, -, _ and . are, with a letter or digit first, at most %d",
			id, maxName)
	}
	return id, line
}

// partition reads a partition's file.
func (r reader) partition(f fields, e *Enclave, dir string, folder fs.FS) *Partition {
	p := &Partition{Enclave: e, Dir: dir, File: r.file}
	p.ID, p.line = f.id("a partition")
	p.Name, _ = f.text("name")
	produces, line := f.text("produces")
	p.Produces = Interface(produces)
	kinds := []Interface{HTTP, TCP, Queue}
	if line == 0 && f.read != nil {
		r.fault(f.line, "a partition needs produces: %s", listed(kinds))
	} else if line > 0 && !slices.Contains(kinds, p.Produces) {
		r.fault(line, "produces is %q: %s are known", produces, listed(kinds))
	}
	f.backend(p)
	if p.Backend != Managed && !hasFiles(folder, dir) && f.read != nil {
		r.fault(0, "the backend is %s, and there are no .tf files beside it", p.Backend)
	}
	p.DeclaredOutputs = f.texts("declared_outputs")
	f.inputs(p)
	f.imports(p)
	f.exports(p)
	f.rest("a partition", "id", "name", "produces", "backend", "terraform", "declared_outputs", "inputs", "imports",
		"exports")
	return p
}

func (f fields) backend(p *Partition) {
	text, line := f.text("backend")
	p.Backend = Backend(cmp.Or(text, string(Managed)))
	backends := []Backend{Managed, Terraform, OpenTofu}
	if !slices.Contains(backends, p.Backend) {
		f.r.fault(line, "backend is %q: %s are known", text, listed(backends))
	}
	n, line := f.node("terraform")
	if n == nil {
		return
	}
	in, ok := f.r.mapping(n, "terraform")
	if !ok {
		return
	}
	if p.Backend == Managed {
		f.r.fault(line, "terraform is for the backends terraform and opentofu; this partition's is managed")
	}
	tool, line := in.text("tool")
	switch tool {
	case "":
	case "terraform":
		p.Tool = ToolTerraform
	case "opentofu", "tofu":
		p.Tool = ToolOpenTofu
	default:
		f.r.fault(line, "terraform.tool is %q: terraform, opentofu and tofu are known", tool)
	}
	in.rest("terraform", "tool")
}

// reserved is what variables begin with that a partition gets by itself.
const reserved = "nclav_"

func (f fields) inputs(p *Partition) {
	n, _ := f.node("inputs")
	if n == nil {
		return
	}
	in, ok := f.r.mapping(n, "inputs")
	if !ok {
		return
	}
	for _, v := range in.all {
		name, line := keyOf(v), lineOf(v.Key)
		text, ok := f.r.scalar(v.Value, "inputs."+name)
		if !ok {
			continue
		}
		value, err := ParseTemplate(text)
		switch {
		case !isWord(name):
			f.r.fault(line, "inputs: %.100q can't be the name of a variable", name)
		case strings.HasPrefix(name, reserved):
			f.r.fault(line, "inputs: names that begin with %s are given to each partition", reserved)
		case err != nil:
			f.r.fault(line, "inputs.%s: %v", name, err)
		default:
			p.Inputs = append(p.Inputs, Input{name, value, line})
		}
	}
	slices.SortFunc(p.Inputs, func(a, b Input) int { return cmp.Compare(a.Name, b.Name) })
}

// each reads the mappings of a list.
func (f fields) each(name string, known []string, do func(fields, int)) {
	for _, n := range f.items(name) {
		in, ok := f.r.mapping(n, "each of "+name)
		if !ok {
			continue
		}
		do(in, firstLine(n))
		in.rest("one of "+name, known...)
	}
}

// firstLine is where a mapping begins.
func firstLine(n ast.Node) int {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		return lineOf(m.Values[0].Key)
	}
	if v, ok := n.(*ast.MappingValueNode); ok {
		return lineOf(v.Key)
	}
	return lineOf(n)
}

func (f fields) imports(p *Partition) {
	f.each("imports", []string{"alias", "from", "export"}, func(in fields, line int) {
		i := Import{line: line}
		i.Alias, _ = in.text("alias")
		i.From, _ = in.text("from")
		i.Export, _ = in.text("export")
		switch {
		case !isWord(i.Alias):
			f.r.fault(line, "an import needs an alias, of letters, digits, _ and -")
		case i.From == "":
			f.r.fault(line, "the import %s needs from: a partition of this enclave, or enclave/partition", i.Alias)
		case slices.ContainsFunc(p.Imports, func(other Import) bool { return other.Alias == i.Alias }):
			f.r.fault(line, "there are two imports with the alias %s", i.Alias)
		default:
			p.Imports = append(p.Imports, i)
		}
	})
}

func (f fields) exports(p *Partition) {
	f.each("exports", []string{"name", "outputs"}, func(in fields, line int) {
		e := Export{line: line}
		e.Name, _ = in.text("name")
		e.Outputs = in.texts("outputs")
		if _, at := in.node("outputs"); at == 0 {
			e.Outputs = p.DeclaredOutputs
		}
		for _, output := range e.Outputs {
			if !slices.Contains(p.DeclaredOutputs, output) {
				f.r.fault(line, "the export %s has the output %s, which is not in declared_outputs", e.Name, output)
			}
		}
		switch {
		case !isWord(e.Name):
			f.r.fault(line, "an export needs a name, of letters, digits, _ and -")
		case slices.ContainsFunc(p.Exports, func(other Export) bool { return other.Name == e.Name }):
			f.r.fault(line, "there are two exports of the name %s", e.Name)
		default:
			p.Exports = append(p.Exports, e)
		}
	})
}

// listed is a list of words for people.
func listed[T ~string](words []T) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	return strings.Join(all, ", ")
}
