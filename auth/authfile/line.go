package authfile

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type lineKind uint8

const (
	lineEmpty   lineKind = iota // blank, or only a comment
	lineSection                 // [value]
	lineSetting                 // setting = value, or a bare value, which is an apikey
)

// line is one line of an auth.cfg.
type line struct {
	text    string // everything, with the line ending: rendering joins these
	kind    lineKind
	setting string // not checked; empty unless it is one
	value   string
	comment string // without its ; or #
}

// ending returns the line break that text ends with: "\n", "\r\n", or "" on the last line.
func ending(text string) string {
	switch {
	case strings.HasSuffix(text, "\r\n"):
		return "\r\n"
	case strings.HasSuffix(text, "\n"):
		return "\n"
	}
	return ""
}

// readLine splits one line into its parts, or says what is wrong with it. What it accepts
// reads the same to gopkg.in/ini.v1; where that reader would see something else (in
// quotations, continuations, comments that look like settings) the line is refused.
func readLine(text string) (line, string) {
	l := line{text: text}
	body := strings.TrimSuffix(text, ending(text))
	if problem := checkCharacters(body); problem != "" {
		return l, problem
	}
	body = strings.TrimSpace(body)
	switch {
	case body == "" || isComment(body[0]):
		return l, ""
	case body[0] == '[':
		return readSection(l, body)
	}
	at := strings.IndexAny(body, "=:")
	if at < 0 {
		return readSetting(l, keySetting, body)
	}
	if strings.HasPrefix(body, "$2") {
		return l, "a comment after a bare hash can't contain = or :; write `apikey = ` in front of the hash"
	}
	return readSetting(l, strings.TrimSpace(body[:at]), body[at+1:])
}

// keySetting is the setting that a bare value is for.
const keySetting = "apikey"

func checkCharacters(body string) string {
	switch {
	case !utf8.ValidString(body):
		return "not valid UTF-8"
	case strings.ContainsRune(body, 0):
		return "a NUL byte; is this a text file?"
	case strings.ContainsFunc(body, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }):
		return "a control character"
	}
	return ""
}

func isComment(c byte) bool { return c == ';' || c == '#' }

func readSection(l line, body string) (line, string) {
	name, rest, closed := strings.Cut(body[1:], "]")
	rest = strings.TrimSpace(rest)
	switch {
	case !closed:
		return l, "the ] that closes the section's name is missing"
	case rest != "" && !isComment(rest[0]):
		return l, "only a comment may stand after a section's ]"
	case strings.Contains(rest, "]"):
		return l, "a comment after a section's name can't contain ]"
	}
	l.kind, l.value = lineSection, name
	return l, ""
}

// readSetting takes the value and its comment out of what stands after the delimiter.
func readSetting(l line, setting, rest string) (line, string) {
	rest = strings.TrimSpace(rest)
	if strings.HasSuffix(rest, `\`) {
		return l, `a line can't end in \`
	}
	l.kind, l.setting, l.value = lineSetting, setting, rest
	at := strings.IndexAny(rest, ";#")
	if at < 0 {
		return l, ""
	}
	if at > 0 && rest[at-1] != ' ' && rest[at-1] != '\t' {
		return l, "a comment after a value needs a space in front of it; values can't contain ; or #"
	}
	l.value = strings.TrimSpace(rest[:at])
	l.comment = strings.TrimSpace(rest[at+1:])
	return l, ""
}
