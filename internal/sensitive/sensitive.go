// Package sensitive finds the texts in a workspace's variables that are to be masked wherever they
// are shown.
package sensitive

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/holdfast/holdfast/api"
)

// Values are the sensitive values of variables, and the texts in those that are lists or objects:
// a configuration takes them out one by one.
func Values(inputs ...[]api.Input) (found []string) {
	for _, some := range inputs {
		for _, v := range some {
			if v.Sensitive && v.Value != "" {
				found = append(append(found, v.Value), textsIn(v.Value)...)
			}
		}
	}
	return found
}

// leastText is how many bytes a text in a sensitive value has that is masked by itself: shorter
// ones are words such as "true".
const leastText = 6

// textsIn are the texts in a list or an object, in HCL or JSON, but for the names in it.
func textsIn(value string) (found []string) {
	if trimmed := strings.TrimSpace(value); !strings.HasPrefix(trimmed, "[") && !strings.HasPrefix(trimmed, "{") {
		return nil
	}
	tokens, _ := hclsyntax.LexExpression([]byte(value), "value", hcl.InitialPos)
	keyFile := isKeyFile(value)
	var text strings.Builder
	member := ""
	for i, token := range tokens {
		switch token.Type {
		case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			text.Reset()
		case hclsyntax.TokenStringLit:
			text.Write(token.Bytes)
		case hclsyntax.TokenQuotedLit:
			text.WriteString(unescaped(string(token.Bytes)))
		case hclsyntax.TokenNumberLit:
			if len(token.Bytes) >= leastText {
				found = append(found, string(token.Bytes))
			}
		case hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
			switch named := isName(tokens[i+1:]); {
			case named:
				member = text.String()
			case text.Len() >= leastText && !isHarmless(member, text.String(), keyFile):
				found = append(found, text.String())
				fallthrough
			default:
				member = "" // the next text is another's
			}
		case hclsyntax.TokenIdent:
			if isName(tokens[i+1:]) {
				member = string(token.Bytes)
			}
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack:
			member = ""
		}
	}
	return found
}

// isKeyFile reports whether a value is a JSON file with a key, as clouds give them out: those say where tokens come
// from.
func isKeyFile(value string) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(value), &members) != nil {
		return false
	}
	_, hasType := members["type"]
	_, hasToken := members["token_uri"]
	return hasType && hasToken
}

// isHarmless reports whether a member says what kind of thing the whole is, or in a key file which public address
// it belongs to.
func isHarmless(name, text string, keyFile bool) bool {
	switch {
	case name == "type", keyFile && name == "universe_domain":
		return true
	case !keyFile || !strings.HasSuffix(name, "_uri") && !strings.HasSuffix(name, "_cert_url"):
		return false
	}
	address, err := url.Parse(text)
	return err == nil && address.Scheme == "https" && address.User == nil && address.RawQuery == "" && address.Fragment == ""
}

// isName reports whether what stands before these tokens names an attribute.
func isName(behind hclsyntax.Tokens) bool {
	return len(behind) > 0 && (behind[0].Type == hclsyntax.TokenEqual || behind[0].Type == hclsyntax.TokenColon)
}

// unescaped is a text from between quotes. HCL's escapes are JSON's, but for a few.
func unescaped(quoted string) string {
	quoted = strings.NewReplacer("$${", "${", "%%{", "%{").Replace(quoted)
	var text string
	if json.Unmarshal([]byte(`"`+quoted+`"`), &text) != nil {
		return quoted
	}
	return text
}
