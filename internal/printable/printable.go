// Package printable spells out what must not reach a terminal as it is.
package printable

import (
	"strconv"
	"strings"
	"unicode"
)

// Text spells out what could move a terminal's cursor, change its colours or turn text around:
// names, messages and attributes are whatever somebody sent.
func Text(text string) string {
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hidden(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Lines is Text of a message that may have several lines, and keeps these and the tabs in them.
func Lines(text string) string {
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	lines := strings.Split(strings.TrimRight(text, "\r\n"), "\n")
	for i, line := range lines {
		parts := strings.Split(strings.TrimSuffix(line, "\r"), "\t")
		for n, part := range parts {
			parts[n] = Text(part)
		}
		lines[i] = strings.Join(parts, "\t")
	}
	return strings.Join(lines, "\n")
}

// Line is Text of a message that has to be a single line: a space stands for each line end and what indents the next
// line.
func Line(text string) string {
	if !strings.ContainsAny(text, "\n") {
		return Text(text)
	}
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return Text(strings.Join(lines, " "))
}

func hidden(r rune) bool { return !unicode.IsPrint(r) }
