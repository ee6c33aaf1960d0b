package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/holdfast/holdfast/fault"
)

const (
	requiredVersion = "required_version"
	// maxModuleFile is how large a file may be to be looked into. A larger one is left to the
	// tool, which compares its own version with required_version and refuses to run.
	maxModuleFile = 256 << 10
	// maxRequired is how many constraints a root module may have.
	maxRequired = 100
)

// requiredVersions finds the required_version settings of the module in a directory.
func requiredVersions(files fs.FS, dir string, tool Name) ([]Rule, error) {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil, fault.Wrap(err, fault.ToolConstraintInvalid, "the configuration has no directory %q", dir)
	}
	var rules []Rule
	for _, name := range moduleFiles(entries, tool) {
		found, err := requiredOf(files, path.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if rules = append(rules, found...); len(rules) > maxRequired {
			return nil, fault.New(fault.ToolConstraintInvalid, "the configuration has more than %d settings of required_version",
				maxRequired)
		}
	}
	return rules, nil
}

// moduleFiles returns the names of the files that a tool reads of a directory: *.tf and
// *.tf.json, and for OpenTofu *.tofu and *.tofu.json, which take the place of the former of the
// same name.
func moduleFiles(entries []fs.DirEntry, tool Name) (names []string) {
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") {
			continue
		}
		switch {
		case strings.HasSuffix(name, ".tf"), strings.HasSuffix(name, ".tf.json"):
			names = append(names, name)
		case tool == OpenTofu && (strings.HasSuffix(name, ".tofu") || strings.HasSuffix(name, ".tofu.json")):
			names = append(names, name)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool {
		stem, suffix, _ := strings.Cut(name, ".tf")
		return (suffix == "" || suffix == ".json") && slices.Contains(names, stem+".tofu"+suffix)
	})
}

// requiredOf finds the settings in one file.
func requiredOf(files fs.FS, name string) ([]Rule, error) {
	data, err := readSmall(files, name, maxModuleFile)
	if err != nil || !bytes.Contains(data, []byte(requiredVersion)) {
		return nil, nil // what can't be looked into is left to the tool
	}
	if strings.HasSuffix(name, ".json") {
		return requiredOfJSON(name, data)
	}
	return requiredOfHCL(name, data)
}

// requiredOfHCL looks at the file's tokens: the parser descends as deep as brackets nest, and
// whoever wrote the file may have nested a great many.
func requiredOfHCL(name string, data []byte) ([]Rule, error) {
	tokens, _ := hclsyntax.LexConfig(data, name, hcl.InitialPos)
	var rules []Rule
	var depth, outer int // of brackets; outer is how many of them a terraform block opened
	for i, token := range tokens {
		switch token.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp,
			hclsyntax.TokenTemplateControl:
			if depth == 0 && i > 0 && isWord(tokens[i-1], "terraform") && startsLine(tokens, i-1) {
				outer = 1
			}
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd:
			if depth--; depth <= 0 {
				depth, outer = 0, 0
			}
		case hclsyntax.TokenIdent:
			if depth != 1 || outer != 1 || !isWord(token, requiredVersion) || !startsLine(tokens, i) {
				continue
			}
			text, literal := literalAfter(tokens[i+1:])
			source := fmt.Sprintf("%s:%d", name, token.Range.Start.Line)
			if !literal {
				return nil, fault.New(fault.ToolConstraintInvalid, "%s: required_version is not a text between quotes", source)
			}
			rule, err := constraintRule(source, text)
			if err != nil {
				return nil, err
			}
			rules = append(rules, rule)
		}
	}
	return rules, nil
}

func isWord(token hclsyntax.Token, word string) bool {
	return token.Type == hclsyntax.TokenIdent && string(token.Bytes) == word
}

// startsLine reports whether the token is the first of its line, or of its block.
func startsLine(tokens hclsyntax.Tokens, i int) bool {
	if i == 0 {
		return true
	}
	switch before := tokens[i-1]; before.Type {
	case hclsyntax.TokenNewline, hclsyntax.TokenOBrace:
		return true
	case hclsyntax.TokenComment: // one that ends its line has the line's end in it
		return bytes.HasSuffix(before.Bytes, []byte("\n")) || startsLine(tokens, i-1)
	}
	return false
}

// literalAfter reads `= "text"`, where the text has no template in it.
func literalAfter(tokens hclsyntax.Tokens) (string, bool) {
	want := []hclsyntax.TokenType{hclsyntax.TokenEqual, hclsyntax.TokenOQuote, hclsyntax.TokenQuotedLit,
		hclsyntax.TokenCQuote}
	if len(tokens) < len(want) {
		return "", false
	}
	for i, kind := range want {
		if tokens[i].Type != kind {
			return "", false
		}
	}
	return string(tokens[2].Bytes), true
}

// requiredOfJSON reads the JSON form, where a block is an object or a list of objects. What is
// no JSON is left to the tool, which has better words for it.
func requiredOfJSON(name string, data []byte) ([]Rule, error) {
	var root map[string]json.RawMessage
	if json.Unmarshal(data, &root) != nil {
		return nil, nil
	}
	blocks := []map[string]json.RawMessage{{}}
	if json.Unmarshal(root["terraform"], &blocks[0]) != nil && json.Unmarshal(root["terraform"], &blocks) != nil {
		return nil, nil
	}
	var rules []Rule
	for _, block := range blocks {
		raw, found := block[requiredVersion]
		if !found {
			continue
		}
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return nil, fault.New(fault.ToolConstraintInvalid, "%s: required_version is not a text between quotes", name)
		}
		rule, err := constraintRule(name, text)
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule)
	}
	return rules, nil
}
