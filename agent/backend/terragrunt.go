package backend

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
)

// TerragruntFile is the file that says what Terragrunt makes of a folder.
const TerragruntFile = "terragrunt.hcl"

// TerragruntCache is the folder, in a unit's own, in which Terragrunt has its tool work: in a folder of a folder
// there, whose names follow from where the unit is on the machine. Among files that are carried to another machine
// they are TerragruntWork instead.
const (
	TerragruntCache = ".terragrunt-cache"
	TerragruntWork  = TerragruntCache + "/work"
)

// WorkDir returns the folder that a unit's tool has worked in, by the names of what was made, as they are carried:
// that of the copy of the block that Write has written, or else the unit's own.
func WorkDir[T any](made map[string]T, unit string) string {
	var folders []string
	for name := range made {
		if path.Base(name) == File && strings.HasPrefix(name, path.Join(unit, TerragruntWork)+"/") {
			folders = append(folders, path.Dir(name))
		}
	}
	if len(folders) == 0 {
		return unit
	}
	return slices.Min(folders) // of other folders none is carried
}

// CheckTerragrunt is an *OtherError if the unit in a folder of the configuration, or a file that it includes by its
// name, has something that a run can't do: a state that is kept elsewhere, or a cache in another place.
func CheckTerragrunt(configuration fs.FS, folder string) error {
	folder = path.Clean(folder)
	name := path.Join(folder, TerragruntFile)
	parts, err := readUnit(configuration, name)
	if err != nil {
		return err
	}
	files := map[string][]part{name: parts}
	for _, p := range parts {
		if included := p.included(configuration, folder); p.kind == "include" && included != "" {
			if files[included], err = readUnit(configuration, included); err != nil {
				return err
			}
		}
	}
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, p := range files[name] {
			if why := p.refused(); why != "" {
				return otherf("Terragrunt can't be run so: %s in line %d of %s", why, p.line, name)
			}
		}
	}
	return nil
}

// part is a block, or an attribute, at the top of a Terragrunt file, with the attributes and blocks in it.
type part struct {
	kind   string
	line   int
	inside map[string]hclsyntax.Tokens // what stands behind a name
}

// readUnit reads the parts of a file; none where there is no such file.
func readUnit(configuration fs.FS, name string) ([]part, error) {
	f, err := configuration.Open(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) { // or it is outside
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxTokens+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxTokens {
		return nil, otherf("%s has more than %d bytes", name, maxTokens)
	}
	return partsOf(text, name), nil
}

// partsOf goes by tokens, as blocksOfHCL does and for its reason.
func partsOf(text []byte, name string) (parts []part) {
	tokens, _ := hclsyntax.LexConfig(text, name, hcl.InitialPos)
	depth, begins, within := 0, true, "" // whether a line of its own begins, and behind which name we are
	for _, token := range tokens {
		opens, closes := nests(token.Type)
		if closes {
			depth = max(depth-1, 0)
		}
		switch {
		case depth == 0 && begins && token.Type == hclsyntax.TokenIdent:
			parts = append(parts, part{kind: string(token.Bytes), line: token.Range.Start.Line,
				inside: map[string]hclsyntax.Tokens{}})
		case depth == 1 && begins && token.Type == hclsyntax.TokenIdent && len(parts) > 0:
			within = string(token.Bytes)
			parts[len(parts)-1].inside[within] = hclsyntax.Tokens{}
		case depth >= 1 && within != "" && len(parts) > 0:
			inside := parts[len(parts)-1].inside
			inside[within] = append(inside[within], token)
		}
		if opens {
			depth++
		}
		comment := token.Type == hclsyntax.TokenComment
		begins = token.Type == hclsyntax.TokenNewline || opens ||
			comment && (begins || bytes.HasSuffix(token.Bytes, []byte("\n")))
		if depth == 0 {
			within = ""
		}
	}
	return parts
}

func nests(t hclsyntax.TokenType) (opens, closes bool) {
	switch t {
	case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp,
		hclsyntax.TokenTemplateControl:
		return true, false
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd:
		return false, true
	}
	return false, false
}

// refused is why a run can't do what a part says; empty if it can. What it can't read is checked once it is made.
func (p part) refused() string {
	switch p.kind {
	case "download_dir":
		return "download_dir, which a run sets itself, is set"
	case "remote_state":
		if kind, known := literal(p.inside["backend"]); known && kind != "http" {
			return fmt.Sprintf("remote_state keeps the state in backend %q, which is elsewhere,", kind)
		}
		if _, generates := p.inside["generate"]; !generates {
			return "remote_state has no generate, so that its settings would get into the plan,"
		}
	case "generate":
		contents, _ := literal(p.inside["contents"])
		blocks, err := blocksOfHCL("contents", []byte(contents))
		if err == nil && slices.ContainsFunc(blocks, func(b block) bool { return b.kind == "cloud" || b.label != "http" }) {
			return "generate makes a block that keeps the state elsewhere"
		}
	}
	return ""
}

// literal is the text of an expression that is one, with templates left out of it.
func literal(tokens hclsyntax.Tokens) (text string, known bool) {
	var all bytes.Buffer
	known = true
	for _, token := range tokens {
		switch token.Type {
		case hclsyntax.TokenQuotedLit:
			all.WriteString(strings.NewReplacer(`\"`, `"`, `\n`, "\n", `\\`, `\`).Replace(string(token.Bytes)))
		case hclsyntax.TokenStringLit:
			all.Write(token.Bytes)
		case hclsyntax.TokenEqual, hclsyntax.TokenNewline, hclsyntax.TokenOQuote, hclsyntax.TokenCQuote,
			hclsyntax.TokenOHeredoc, hclsyntax.TokenCHeredoc, hclsyntax.TokenComment:
		default:
			known = false
		}
	}
	return all.String(), known && all.Len() > 0
}

// included is the file that an include block names, if that can be told without running it; else empty.
func (p part) included(configuration fs.FS, folder string) string {
	tokens := p.inside["path"]
	text, _ := literal(tokens)
	isCall := slices.ContainsFunc(tokens, func(t hclsyntax.Token) bool {
		return string(t.Bytes) == "find_in_parent_folders"
	})
	if !isCall {
		if _, known := literal(tokens); !known || path.IsAbs(text) {
			return ""
		}
		return path.Join(folder, text)
	}
	if text == "" {
		text = TerragruntFile
	}
	for folder != "." {
		folder = path.Dir(folder)
		if _, err := fs.Stat(configuration, path.Join(folder, text)); err == nil {
			return path.Join(folder, text)
		}
	}
	return ""
}
