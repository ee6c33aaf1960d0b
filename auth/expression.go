package auth

import (
	"regexp"
	"sync"
)

// expression is a regular expression that is compiled when it is first asked: of a large
// file's patterns most never are, and each would take some thousand bytes. It is made of
// quoted text and fixed parts, so that it always compiles.
//
// RE2 matches in time linear in the text, whatever the expression.
type expression func() *regexp.Regexp

func newExpression(text string) expression {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// matches reports whether the expression matches text; the nil expression never does.
func (e expression) matches(text string) bool { return e != nil && e().MatchString(text) }
