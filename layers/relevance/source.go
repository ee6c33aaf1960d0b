package relevance

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Source is something in a repository that a layer reads.
type Source struct {
	Kind    Kind
	Path    string // of a folder or a file; "." is the whole repository
	Pattern string // of Matching, within Path
	Why     string // the layer reads it
	// linked says that another source leads there by links: a run has it under that one's path.
	linked bool
}

// Kind is what of its path a source is.
type Kind uint8

// The kinds.
const (
	Module   Kind = iota // the configuration that is right in a folder
	Root                 // the same of the layer's own folder, with variables and lock file
	Under                // a file, or all that is in a folder
	Matching             // what a pattern matches in a folder
)

// Linked reports whether another source leads there by links: a run has it under that one's path.
func (s Source) Linked() bool { return s.linked }

// compare has what says more of a path come first.
func (s Source) compare(other Source) int {
	return cmp.Or(cmp.Compare(s.Path, other.Path), cmp.Compare(other.Kind, s.Kind), cmp.Compare(s.Why, other.Why),
		cmp.Compare(s.Pattern, other.Pattern))
}

// Has reports whether a path is of the source.
func (s Source) Has(name string) bool {
	switch s.Kind {
	case Module:
		return path.Dir(name) == s.Path && IsConfiguration(path.Base(name))
	case Root:
		return path.Dir(name) == s.Path && (IsConfiguration(path.Base(name)) || isInput(path.Base(name)))
	case Under:
		return s.Path == "." || name == s.Path || strings.HasPrefix(name, s.Path+"/")
	}
	rest, within := within(s.Path, name)
	return within && Match(s.Pattern, rest)
}

// within is the path of what is in a folder, from there.
func within(folder, name string) (string, bool) {
	if folder == "." {
		return name, true
	}
	return strings.CutPrefix(name, folder+"/")
}

// IsConfiguration reports whether a file is of a module's configuration by its name.
func IsConfiguration(name string) bool {
	return hasSuffix(name, ".tf", ".tf.json", ".tofu", ".tofu.json") || name == terragruntFile
}

// isInput reports whether the tools read a file that is right in the folder they work in.
func isInput(name string) bool {
	return hasSuffix(name, ".auto.tfvars", ".auto.tfvars.json") || slices.Contains([]string{"terraform.tfvars",
		"terraform.tfvars.json", ".terraform.lock.hcl", ".terraform-version", ".opentofu-version", ".terragrunt-version"},
		name)
}

func hasSuffix(name string, ends ...string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(name, end) })
}

// Match reports whether a path matches a pattern: ** is any number of folders, and in a name * and ? are what
// path.Match has them for. A pattern that ends with / is all that is in the folders that it matches.
func Match(pattern, name string) bool {
	if strings.HasSuffix(pattern, "/") {
		pattern += "**"
	}
	return match(strings.Split(pattern, "/"), strings.Split(name, "/"))
}

// match goes back to the last ** alone: what an earlier one has left is no worse than what it could take.
func match(pattern, name []string) bool {
	star, resume := -1, 0
	p, n := 0, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			star, resume = p, n
			p++
		case p < len(pattern) && matchName(pattern[p], name[n]):
			p, n = p+1, n+1
		case star >= 0:
			resume++
			p, n = star+1, resume
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == "**" {
		p++
	}
	return p == len(pattern)
}

func matchName(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// CheckPattern returns what keeps a text from being a pattern of paths; empty for nothing.
func CheckPattern(pattern string) string {
	_, err := path.Match(pattern, "")
	switch {
	case pattern == "" || len(pattern) > 1000:
		return "it has 1 to 1000 bytes"
	case strings.HasPrefix(pattern, "/"), slices.Contains(strings.Split(pattern, "/"), ".."),
		slices.Contains(strings.Split(pattern, "/"), "."):
		return "it is relative to the repository, without . and .."
	case err != nil:
		return "it is no pattern: a [ is not closed"
	case strings.ContainsAny(pattern, "\x00\n\\{}"):
		return `it has a character that patterns don't: \, {, } or a control character`
	}
	return ""
}

// steady is the folder that all that a pattern matches is in.
func steady(pattern string) string {
	fixed := []string{}
	for part := range strings.SplitSeq(pattern, "/") {
		if strings.ContainsAny(part, "*?[") {
			break
		}
		fixed = append(fixed, part)
	}
	if len(fixed) == strings.Count(pattern, "/")+1 { // a name
		fixed = fixed[:len(fixed)-1]
	}
	return path.Clean(strings.Join(fixed, "/"))
}
