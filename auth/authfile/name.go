package authfile

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast/holdfast/auth"
)

// maxWords is the length of a name or a label, in characters.
const maxWords = 100

// CheckName reports why name can't be an organization's name in auth.cfg, or nil. What it
// accepts means the same to every reader of INI files: 1 to 100 printable characters,
// without those that start a comment, a quotation, a continuation or a reference there.
func CheckName(name string) error {
	if err := checkWords(name); err != nil {
		return err
	}
	switch {
	case strings.ContainsAny(name, ";#"):
		return errors.New("a name can't contain ; or #, which start a comment")
	case strings.ContainsAny(name[:1], "\"'`"):
		return errors.New("a name can't start with a quotation mark; it needs none")
	case strings.Contains(name, "%("):
		return errors.New("a name can't contain %(")
	}
	return nil
}

// maxKeyName is the length of a key's name in characters.
const maxKeyName = 64

// CheckKeyName reports why name can't be a key's name in auth.cfg, or nil. It is 1 to 64
// letters, digits, - and _, and neither looks like a key's ID, which commands accept as
// well, nor means another kind of section.
func CheckKeyName(name string) error {
	lower := strings.ToLower(name)
	switch {
	case name == "" || len(name) > maxKeyName || !onlyOf(name, alphanumerics+"-_"):
		return errors.New("1 to 64 letters, digits, - and _ are a name")
	case lower == tokenKind || lower == certificateKind || lower == statesKind:
		return errors.New("oidc, cert and states are other kinds of sections")
	case len(name) == keyIDLength && onlyOf(lower, hexDigits):
		return errors.New("it looks like a key's ID")
	}
	return nil
}

// CheckLabel reports why label can't stand as a comment behind a key, or nil.
func CheckLabel(label string) error { return checkWords(label) }

func checkWords(text string) error {
	switch {
	case text == "":
		return errors.New("it is empty")
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New("only printable characters are allowed, and no line breaks")
	case strings.TrimSpace(text) != text:
		return errors.New("it starts or ends with a space")
	case utf8.RuneCountInString(text) > maxWords:
		return errors.New("it is longer than 100 characters")
	case strings.Contains(text, `\`):
		return errors.New(`it can't contain \`)
	case auth.HoldsKey(text):
		return errors.New("it contains a key, which must not be stored in the clear")
	}
	return nil
}
