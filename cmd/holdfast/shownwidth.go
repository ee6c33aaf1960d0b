package main

import (
	"unicode"

	"golang.org/x/text/width"
)

// shownWidth returns how many columns of a terminal a text takes: two for the characters of East Asia and
// for emoji, none for marks that stand on the character before.
func shownWidth(text string) (columns int) {
	for _, r := range text {
		columns += widthOfRune(r)
	}
	return columns
}

func widthOfRune(r rune) int {
	switch {
	case r < unicode.MaxLatin1:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
		return 2
	}
	return 1
}
