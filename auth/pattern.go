package auth

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/internal/lazyregexp"
)

// The bounds of a list of patterns.
const (
	maxPatterns      = 100
	maxPatternLength = 255
)

// Patterns says which states a caller may touch: one of them must match the state's name.
// They never change. A nil *Patterns matches every name.
type Patterns struct {
	texts       []string
	expressions []lazyregexp.Expression
}

// ParsePatterns reads a list such as "prod/*, shared/network": state names, separated by
// commas, in which * stands for any characters of one segment, at least one, and ** for
// any number of whole segments, at least one.
func ParsePatterns(text string) (*Patterns, error) {
	var p Patterns
	for part := range strings.SplitSeq(text, ",") {
		if err := p.add(strings.TrimSpace(part)); err != nil {
			return nil, err
		}
	}
	return &p, nil
}

// PatternsOf reads a list whose patterns are given one by one, such as List returns; nil for none of them.
func PatternsOf(texts []string) (*Patterns, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	var p Patterns
	for _, text := range texts {
		if err := p.add(text); err != nil {
			return nil, err
		}
	}
	return &p, nil
}

func (p *Patterns) add(text string) error {
	switch {
	case text == "":
		return fmt.Errorf("an empty pattern; write names such as prod/*, separated by commas")
	case len(text) > maxPatternLength:
		return fmt.Errorf("a pattern longer than %d characters", maxPatternLength)
	case len(p.texts) == maxPatterns:
		return fmt.Errorf("more than %d patterns", maxPatterns)
	}
	var whole strings.Builder
	for i, segment := range strings.Split(text, "/") {
		if err := checkPatternSegment(segment); err != nil {
			return err
		}
		if i > 0 {
			whole.WriteByte('/')
		}
		whole.WriteString(segmentExpression(segment))
	}
	p.texts = append(p.texts, text)
	p.expressions = append(p.expressions, lazyregexp.New("^(?:"+whole.String()+")$"))
	return nil
}

// checkPatternSegment refuses what no state's name could match, which is a mistake.
func checkPatternSegment(segment string) error {
	switch {
	case segment == "" || segment == "." || segment == "..":
		return fmt.Errorf("a pattern with an empty segment, or with . or .. as one; no state has such a name")
	case strings.Contains(segment, "**") && segment != "**":
		return fmt.Errorf("** stands for whole segments: write it between slashes")
	case !onlyOf(segment, base62Digits+"._-~*"):
		return fmt.Errorf("a pattern has letters, digits, . _ - ~ and *, with / between segments")
	}
	return nil
}

func segmentExpression(segment string) string {
	if segment == "**" {
		return ".+"
	}
	return strings.ReplaceAll(regexp.QuoteMeta(segment), `\*`, "[^/]+")
}

// Match reports whether a state of this name is within the patterns.
func (p *Patterns) Match(name string) bool {
	if p == nil {
		return true
	}
	return slices.ContainsFunc(p.expressions, func(e lazyregexp.Expression) bool { return e.Matches(name) })
}

// List returns the patterns as they were written; nil when every name matches.
func (p *Patterns) List() []string {
	if p == nil {
		return nil
	}
	return p.texts
}

// String returns the patterns as auth.cfg spells them; empty when every name matches.
func (p *Patterns) String() string { return strings.Join(p.List(), ", ") }

// Covers reports whether every state that the others match is matched by these. It may say no of
// some that are, but never yes of one that isn't.
func (p *Patterns) Covers(others *Patterns) bool {
	if p == nil || others == nil {
		return p == nil
	}
	return !slices.ContainsFunc(others.texts, func(other string) bool { return !p.covers(other) })
}

// covers goes by the texts: where ours have a star, it matches a star of theirs as it does all that
// their star stands for. Of ** that holds only for ours at the end, which takes any segments.
func (p *Patterns) covers(other string) bool {
	if slices.Contains(p.texts, other) {
		return true
	}
	if !strings.Contains(other, "**") {
		return p.Match(other)
	}
	return slices.ContainsFunc(p.texts, func(own string) bool {
		folder, all := strings.CutSuffix(own, "**")
		return all && !strings.Contains(folder, "*") && strings.HasPrefix(other, folder)
	})
}
