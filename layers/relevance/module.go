package relevance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
)

// What is read of a repository: whatever is beyond it counts as read by all who come by it.
const (
	maxFile        = 1 << 20 // bytes of one file
	maxFiles       = 1000    // of a folder's configuration
	maxNested      = 500     // brackets within brackets
	maxRepeat      = 10_000  // of what the parser goes down for one by one
	terragruntFile = "terragrunt.hcl"
)

// module is what the configuration in a folder reads.
type module struct {
	calls []Source // of folders
	reads []Source
	// inRoot are files that are looked for from the folder that the tool works in.
	inRoot []Source
	// origins are paths outside of the folder that links of it lead to, and the configuration was read from.
	origins []string
}

// parse reads the configuration of a folder; one that is not there has none.
func parse(tree fs.FS, dir string, by links) (*module, error) {
	m := &module{origins: by.origins(dir)}
	entries, err := fs.ReadDir(tree, dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return m, nil
	}
	if err != nil {
		return nil, err
	}
	files := 0
	for _, e := range entries {
		if !IsConfiguration(e.Name()) || !isFile(tree, dir, e) {
			continue
		}
		if files++; files > maxFiles {
			m.all(dir, "the folder has too many files to be read")
			break
		}
		text, err := readFile(tree, path.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		m.file(dir, e.Name(), text)
	}
	for _, all := range [][]Source{m.calls, m.reads, m.inRoot} {
		slices.SortFunc(all, Source.compare) // attributes come in no order
	}
	return m, nil
}

// isFile reports whether an entry of a folder is a file, or a link to one.
func isFile(tree fs.FS, dir string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.Type().IsRegular()
	}
	info, err := fs.Stat(tree, path.Join(dir, e.Name()))
	return err == nil && info.Mode().IsRegular()
}

// readFile reads up to one byte more than is looked at.
func readFile(tree fs.FS, name string) ([]byte, error) {
	f, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// all has everything in a folder count, because what is read there is not known.
func (m *module) all(dir, why string) {
	m.reads = append(m.reads, Source{Kind: Under, Path: dir, Why: why})
}

func (m *module) file(dir, name string, text []byte) {
	switch {
	case len(text) > maxFile:
		m.all(dir, path.Join(dir, name)+" is too large to be read")
	case strings.HasSuffix(name, ".json"):
		m.json(dir, name, text)
	case name != terragruntFile && !namesAnything(text):
	case tooDeep(text):
		m.all(dir, path.Join(dir, name)+" is nested too deeply to be read")
	default:
		parsed, diags := hclsyntax.ParseConfig(text, path.Join(dir, name), hcl.InitialPos)
		if diags.HasErrors() {
			m.all(dir, fmt.Sprintf("%s can't be read, line %d", path.Join(dir, name), lineOf(diags)))
		}
		if body, ok := parsed.Body.(*hclsyntax.Body); ok && parsed != nil {
			m.body(dir, name, body)
		}
	}
}

// namesAnything reports whether a file may name what is read: most don't, and need not be parsed.
func namesAnything(text []byte) bool {
	return slices.ContainsFunc([]string{"module", "path.", "file", "read_"}, func(word string) bool {
		return bytes.Contains(text, []byte(word))
	})
}

func lineOf(diags hcl.Diagnostics) int {
	for _, d := range diags {
		if d.Subject != nil {
			return d.Subject.Start.Line
		}
	}
	return 0
}

// tooDeep reports whether the parser, which calls itself for each nesting, may run out of stack.
func tooDeep(text []byte) bool {
	depth, signs := 0, 0
	for _, c := range text {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth = max(depth-1, 0)
		case '!', '-', '?':
			signs++
		case '\n':
			signs = 0
		}
		if depth > maxNested || signs > maxRepeat {
			return true
		}
	}
	return false
}

func (m *module) body(dir, name string, body *hclsyntax.Body) {
	if name == terragruntFile {
		m.terragrunt(dir, body)
	}
	for _, block := range body.Blocks {
		if block.Type == "module" && len(block.Labels) == 1 && block.Body.Attributes["source"] != nil {
			source, diags := block.Body.Attributes["source"].Expr.Value(nil)
			if !diags.HasErrors() && isText(source) {
				m.call(dir, source.AsString(), where("module "+block.Labels[0], dir, name, block.DefRange().Start.Line))
			} else {
				m.all(".", where("a module whose source only a plan knows", dir, name, block.DefRange().Start.Line))
			}
		}
	}
	references{m, dir, name}.walk(body)
}

// where says where something stands.
func where(what, dir, name string, line int) string {
	return fmt.Sprintf("%s, %s:%d", what, path.Join(dir, name), line)
}

// call notes a module that is called, where it is in the repository.
func (m *module) call(dir, source, why string) {
	if !strings.HasPrefix(source, "./") && !strings.HasPrefix(source, "../") {
		return // it comes from elsewhere, in a version of its own
	}
	source, sub, _ := strings.Cut(source, "//")
	if to, inside := join(dir, path.Join(source, sub)); inside {
		m.calls = append(m.calls, Source{Kind: Module, Path: to, Why: why})
	}
}

// join is a path from a folder, if it stays within the repository.
func join(dir, rest string) (string, bool) {
	to := path.Join(dir, rest)
	return to, to != ".." && !strings.HasPrefix(to, "../")
}

// json reads a configuration that is written in JSON: what it calls, while what it names is not looked for.
func (m *module) json(dir, name string, text []byte) {
	parsed, diags := json.Parse(text, path.Join(dir, name))
	if diags.HasErrors() || parsed == nil {
		m.all(dir, path.Join(dir, name)+" can't be read")
		return
	}
	if strings.Contains(string(text), "${") && strings.Contains(string(text), "path.") ||
		strings.Contains(string(text), "file") {
		m.all(dir, path.Join(dir, name)+" may read files")
	}
	content, _, _ := parsed.Body.PartialContent(&hcl.BodySchema{
		Blocks: []hcl.BlockHeaderSchema{{Type: "module", LabelNames: []string{"name"}}}})
	for _, block := range content.Blocks {
		inside, _, _ := block.Body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "source"}}})
		if inside.Attributes["source"] == nil {
			continue
		}
		source, diags := inside.Attributes["source"].Expr.Value(nil)
		if !diags.HasErrors() && isText(source) {
			m.call(dir, source.AsString(), where("module "+block.Labels[0], dir, name, block.DefRange.Start.Line))
		}
	}
}
