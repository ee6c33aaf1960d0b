package resourceindex

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// split returns the words of a text in turn: runs of letters and digits, in lower case and
// without diacritics. What else there is only keeps words apart.
func split(text string) []string {
	if !isASCII(text) {
		text = plain(text)
	}
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !inWord(r) })
}

// inWord reports whether a rune is part of a word. Bytes that are not text are none: in a
// database they might come back as others.
func inWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Co, r))
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// plain takes the diacritics off a text's letters.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(text))
}

// searchText is what a resource is found by: all of its words in turn, each behind a space.
// So a word, or several in a row, are in it behind a space too.
func searchText(texts []string) string {
	var b strings.Builder
	for _, text := range texts {
		for _, word := range split(text) {
			b.WriteByte(' ')
			b.WriteString(word)
		}
	}
	return b.String()
}

// phrase is what one word of a query says: several words in a row may be in it, of which
// the last one may go on.
type phrase []string

// phrases leave out what has neither a letter nor a digit: it restricts nothing.
func phrases(words []string) []phrase {
	var all []phrase
	for _, word := range words {
		if p := phrase(split(word)); len(p) > 0 {
			all = append(all, p)
		}
	}
	return all
}

// text is in the search text of whatever the phrase finds.
func (p phrase) text() string { return " " + strings.Join(p, " ") }

// behindAll comes behind all words that go on from the text before it: no word has it.
const behindAll = "\U0010ffff"
