package backend

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// blocksOfHCL finds the blocks by the file's tokens: the parser descends as deep as brackets and
// signs nest, and whoever wrote the file may have nested so many that the process ends. What
// doesn't parse is left to the tool, which refuses it.
func blocksOfHCL(name string, text []byte) (found []block, err error) {
	if !bytes.Contains(text, []byte("backend")) && !bytes.Contains(text, []byte("cloud")) {
		return nil, nil
	}
	if len(text) > maxTokens {
		return nil, otherf("the configuration's file %s has more than %d bytes and speaks of a backend or a cloud: move "+
			"that to a smaller one", name, maxTokens)
	}
	tokens, _ := hclsyntax.LexConfig(text, name, hcl.InitialPos)
	var depth int   // of brackets
	var inside bool // of a terraform block
	for i, token := range tokens {
		switch token.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp,
			hclsyntax.TokenTemplateControl:
			words := before(tokens, i)
			switch {
			case token.Type != hclsyntax.TokenOBrace:
			case depth == 0:
				inside = len(words) > 0 && words[0] == "terraform"
			case depth == 1 && inside && len(words) > 0 && (words[0] == "backend" || words[0] == "cloud"):
				found = append(found, block{words[0], last(words), token.Range.Start.Line})
			}
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd:
			depth = max(depth-1, 0)
		}
	}
	return found, nil
}

// before are the type and the labels of the block whose brace this is; none where it is no
// block's.
func before(tokens hclsyntax.Tokens, brace int) (words []string) {
	for i := brace - 1; i >= 0; i-- {
		switch token := tokens[i]; token.Type {
		case hclsyntax.TokenIdent, hclsyntax.TokenQuotedLit:
			words = append([]string{string(token.Bytes)}, words...)
		case hclsyntax.TokenOQuote, hclsyntax.TokenCQuote:
		case hclsyntax.TokenComment:
			if bytes.HasSuffix(token.Bytes, []byte("\n")) {
				return words
			}
		case hclsyntax.TokenNewline, hclsyntax.TokenOBrace, hclsyntax.TokenCBrace:
			return words
		default:
			return nil
		}
		if len(words) > 2 {
			return nil
		}
	}
	return words
}

func last(words []string) string { return words[len(words)-1] }

// blocksOfJSON finds the blocks in the form of JSON, where each is an object or a list of
// objects.
func blocksOfJSON(name string, text []byte) (found []block, err error) {
	root, err := objects(text)
	if err != nil {
		return nil, otherf("the configuration's file %s is no JSON: %v", name, err)
	}
	for _, terraform := range within(root, "terraform") {
		for range within([]object{terraform}, "cloud") {
			found = append(found, block{kind: "cloud"})
		}
		for _, backend := range within([]object{terraform}, "backend") {
			for label := range backend {
				found = append(found, block{kind: "backend", label: label})
			}
		}
	}
	return found, nil
}

type object map[string]jsontext.Value

// within are the objects that a name of these has.
func within(all []object, name string) (found []object) {
	for _, one := range all {
		if value, there := one[name]; there {
			inner, _ := objects(value) // it was read as a part of the whole
			found = append(found, inner...)
		}
	}
	return found
}

// objects are those of an object or of a list of objects; nothing else has any. A name that comes
// twice is an error, as is what nests deeper than the decoder goes.
func objects(text jsontext.Value) (found []object, err error) {
	switch text.Kind() {
	case '{':
		var one object
		err := json.Unmarshal(text, &one)
		return []object{one}, err
	case '[':
		var list []jsontext.Value
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, err
		}
		for _, value := range list {
			if value.Kind() != '{' {
				continue
			}
			inner, err := objects(value)
			if err != nil {
				return nil, err
			}
			found = append(found, inner...)
		}
	}
	return found, nil
}
