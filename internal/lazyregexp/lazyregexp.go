// Package lazyregexp has regular expressions that are compiled when they are first asked.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Expression is a regular expression that is compiled when it is first asked: of a large
// file's patterns most never are, and each would take some thousand bytes. It is made of
// quoted text and fixed parts, so that it always compiles.
//
// RE2 matches in time linear in the text, whatever the expression.
type Expression func() *regexp.Regexp

// New returns the expression of a text that is known to compile.
func New(text string) Expression {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// Matches reports whether the expression matches text; the nil expression never does.
func (e Expression) Matches(text string) bool { return e != nil && e().MatchString(text) }
