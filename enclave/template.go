package enclave

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Template is a text in which {{ alias.key }} stands for an output that is imported.
type Template struct {
	Text  string
	parts []part
}

// part is a piece of text, or what stands for one.
type part struct{ text, alias, key string }

// ParseTemplate reads a template. The error says what of it is not one.
func ParseTemplate(text string) (Template, error) {
	t := Template{Text: text}
	for rest := text; rest != ""; {
		before, behind, found := strings.Cut(rest, "{{")
		if before != "" {
			t.parts = append(t.parts, part{text: before})
		}
		if !found {
			break
		}
		inner, after, closed := strings.Cut(behind, "}}")
		if !closed {
			return t, fmt.Errorf(`"{{" is not closed with "}}"`)
		}
		alias, key, dotted := strings.Cut(strings.TrimSpace(inner), ".")
		if !dotted || !isWord(alias) || !isWord(key) {
			return t, fmt.Errorf("{{%.100s}} is not of the form {{ alias.key }}", inner)
		}
		t.parts = append(t.parts, part{alias: alias, key: key})
		rest = after
	}
	return t, nil
}

// Reference is what a template refers to.
type Reference struct{ Alias, Key string }

// References lists what it refers to, in the order of the text.
func (t Template) References() (all []Reference) {
	for _, p := range t.parts {
		if p.alias != "" {
			all = append(all, Reference{p.alias, p.key})
		}
	}
	return all
}

// fill puts values in the place of references.
func (t Template) fill(value func(Reference) (string, error)) (string, error) {
	var b strings.Builder
	for _, p := range t.parts {
		if p.alias == "" {
			b.WriteString(p.text)
			continue
		}
		text, err := value(Reference{p.alias, p.key})
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// Output is the value of an output.
type Output struct {
	Value     json.RawMessage
	Sensitive bool
}

// text is an output as an input has it: a string bare, anything else as JSON.
func (o Output) text() string {
	var s string
	if json.Unmarshal(o.Value, &s) == nil && len(o.Value) > 0 && o.Value[0] == '"' {
		return s
	}
	return string(o.Value)
}
