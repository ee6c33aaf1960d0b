package show

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/printable"
)

// maxText is how long a name or a message is shown.
const maxText = 200

// Counts is what a plan does, in a line.
func Counts(c api.RunCounts) string {
	text := fmt.Sprintf("%d to add, %d to change, %d to destroy", c.Add, c.Change, c.Destroy)
	for _, more := range []struct {
		n    int
		what string
	}{{c.Replace, "of them replaced"}, {c.Import, "to import"}, {c.Move, "to move"}, {c.Forget, "to forget"},
		{c.Outputs, "outputs to change"}} {
		if more.n > 0 {
			text += fmt.Sprintf(", %d %s", more.n, more.what)
		}
	}
	return text + "."
}

// cut shortens a text, and spells out what must not reach a terminal.
func cut(text string) string {
	text = printable.Text(text)
	if len(text) <= maxText {
		return text
	}
	end := maxText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// Code is a name in Markdown, as code, which nothing in the name can end: neither the code nor, in a
// table, its cell.
func Code(text string) string {
	return code(text, "_")
}

// Command is Code of several words, which can be copied.
func Command(text string) string { return code(text, " ") }

func code(text, between string) string {
	words := strings.Fields(strings.NewReplacer("`", "'", "|", "¦").Replace(cut(text)))
	if len(words) == 0 {
		return "`-`"
	}
	return "`" + strings.Join(words, between) + "`"
}

// Plain is a text in Markdown that is nothing but text. What a forge would make something of when it
// looks at the text that is shown (mentions of people, references to issues, addresses) has a space of
// no width inside, as escaping it for Markdown alone does not keep a forge from it. Nor does a line
// begin with it as a command would.
func Plain(text string) string {
	var b strings.Builder
	text = strings.Join(strings.Fields(cut(text)), " ")
	if strings.HasPrefix(text, "/") {
		b.WriteString(noWidth)
	}
	for _, r := range text {
		switch {
		case r == '`': // not all forges agree on how one is escaped
			b.WriteByte('\'')
		case r == '<':
			b.WriteString("&lt;")
		case r == '&':
			b.WriteString("&amp;" + noWidth)
		case strings.ContainsRune("@%$^", r):
			b.WriteString(string(r) + noWidth)
		case strings.ContainsRune("#!~", r):
			b.WriteString("\\" + string(r) + noWidth)
		case strings.ContainsRune("\\*_[]()|>", r):
			b.WriteString("\\" + string(r))
		default:
			b.WriteRune(r)
		}
	}
	return strings.NewReplacer("://", ":"+noWidth+"//", "www.", "www"+noWidth+".").Replace(b.String())
}

// HTML is a text in a line of HTML within Markdown, where that is not looked at.
func HTML(text string) string {
	text = strings.Join(strings.Fields(cut(text)), " ")
	return strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;", `"`, "&quot;", "@", "@"+noWidth, "#", "#"+noWidth,
		"!", "!"+noWidth, "://", ":"+noWidth+"//", "www.", "www"+noWidth+".").Replace(text)
}

// noWidth is a space that is not seen.
const noWidth = "\u200b"
