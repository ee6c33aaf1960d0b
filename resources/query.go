package resources

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// Query selects resources. Zero fields select everything.
type Query struct {
	// Words are looked for in addresses, IDs, names and tags: all of them must be there,
	// each at the beginning of a word or of several in a row, in any case.
	Words      []string
	Type       string
	Provider   string
	State      state.Name
	Source     Source
	Attributes []Pair // exactly these
	After      Place  // continue behind this one; the zero Place begins
	Limit      int    // above zero
}

// The limits of a search.
const (
	maxText    = 1000
	maxWords   = 20
	maxFilters = 20
)

// ParseWords splits what somebody typed into the words of a Query. Signs between words
// mean nothing by themselves; a word keeps those within, as in i-0abc.
func ParseWords(text string) ([]string, error) {
	if len(text) > maxText || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return nil, fault.New(fault.ParameterInvalid, "the query's q is not text of at most %d bytes", maxText)
	}
	var words []string
	for _, word := range strings.Fields(text) {
		word = strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
		if word != "" {
			words = append(words, word)
		}
	}
	switch {
	case text != "" && words == nil:
		return nil, fault.New(fault.ParameterInvalid, "the query's q has neither a letter nor a digit to look for")
	case len(words) > maxWords:
		return nil, fault.New(fault.ParameterInvalid, "the query's q has more than %d words", maxWords)
	}
	return words, nil
}

// Scope is what a caller may see of an organization.
type Scope struct {
	// States says which states; nil for all, if AnyState is set, else for none.
	States   func(name string) bool
	AnyState bool
	Uploads  bool
}
