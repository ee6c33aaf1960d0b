package mask

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longText is how many bytes a text has at most that is looked for in URLs and messages.
const longText = 8 << 10

// patterns are the texts to mask.
type patterns map[string]struct{}

func (p patterns) add(texts ...string) {
	for _, text := range texts {
		if len(text) >= leastSecret {
			p[text] = struct{}{}
		}
	}
}

// addSecret adds everything that a secret may look like.
func (p patterns) addSecret(secret string) {
	unix := strings.ReplaceAll(secret, "\r\n", "\n")
	for _, text := range []string{secret, unix, strings.ReplaceAll(unix, "\n", "\r\n")} {
		p.addText(text)
	}
	p.add(hex.EncodeToString([]byte(secret)), fmt.Sprintf("%X", secret))
	p.addBase64(secret)
	for line := range strings.Lines(secret) {
		line = strings.TrimSpace(line)
		if line != secret && utf8.RuneCountInString(line) >= leastLine {
			p.addPlain(line)
		}
	}
}

// addText adds a text as it is, and as it is written where not every character may be. What is
// too long for a URL or a message is not looked for in them: that would only take room.
func (p patterns) addText(text string) {
	p.addPlain(text)
	if len(text) > longText {
		return
	}
	p.addURL(text)
	p.add(unquoted(strconv.Quote(text)), unquoted(strconv.QuoteToASCII(text)))
	for _, html := range []bool{true, false} {
		once := jsonEscaped(text, html)
		p.add(asciiEscaped(once), jsonEscaped(once, html))
	}
}

// addPlain adds a text as it is, and as it is between the quotes of plans and JSON.
func (p patterns) addPlain(text string) {
	p.add(text, hclEscaped(text), jsonEscaped(text, true), jsonEscaped(text, false))
}

// addURL adds what a text looks like in the parts of a URL. Some write hexadecimal digits small.
func (p patterns) addURL(text string) {
	query := url.QueryEscape(text)
	component := strings.ReplaceAll(query, "+", "%20")
	script := strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(component)
	password := strings.TrimSuffix(strings.TrimPrefix(url.UserPassword("", text).String(), ":"), "@")
	for _, escaped := range []string{query, component, script, url.PathEscape(text), password} {
		p.add(escaped, smallEscapes(escaped))
	}
}

// smallEscapes writes the digits behind each % small.
func smallEscapes(escaped string) string {
	out := []byte(escaped)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			copy(out[i+1:i+3], bytes.ToLower(out[i+1:i+3]))
		}
	}
	return string(out)
}

func unquoted(quoted string) string { return quoted[1 : len(quoted)-1] }

// jsonEscaped is a text as it is between the quotes of a JSON string.
func jsonEscaped(text string, html bool) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(html)
	_ = encoder.Encode(text) // never fails for a string
	return unquoted(strings.TrimSuffix(out.String(), "\n"))
}

// asciiEscaped is JSON as those write it who keep to ASCII.
func asciiEscaped(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			out.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// hclEscaped is a text as it is between the quotes of an HCL string.
func hclEscaped(text string) string {
	var out strings.Builder
	for i, r := range text {
		switch {
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\r':
			out.WriteString(`\r`)
		case r == '\t':
			out.WriteString(`\t`)
		case r == '"' || r == '\\':
			out.WriteString(`\` + string(r))
		case (r == '$' || r == '%') && strings.HasPrefix(text[i+1:], "{"):
			out.WriteString(string(r) + string(r))
		case !unicode.IsPrint(r) && r <= 0xffff:
			fmt.Fprintf(&out, `\u%04x`, r)
		case !unicode.IsPrint(r):
			fmt.Fprintf(&out, `\U%08x`, r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}
