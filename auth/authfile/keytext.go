package authfile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth/keyring"
)

// keyLine is the line of a key, without its line break.
func keyLine(hash, label string) string {
	text := keySetting + " = " + hash
	if label != "" {
		text += " ; " + label
	}
	return text
}

// checkNewLabel is CheckLabel for a label that may be missing.
func checkNewLabel(label string) error {
	if label == "" {
		return nil
	}
	if err := CheckLabel(label); err != nil {
		return fmt.Errorf("not a label: %w", err)
	}
	return nil
}

// keySectionText is a key's own section, with a blank line above it.
func keySectionText(org uuid.UUID, k keyring.StoredKey, br string) string {
	lines := []string{"", "[" + org.String() + "." + k.Name + "]", keyLine(k.Hash, k.Label), "role = " + string(k.Role)}
	if k.States != nil {
		lines = append(lines, "states = "+k.States.String())
	}
	if !k.Expires.IsZero() {
		lines = append(lines, "expires = "+FormatExpiry(k.Expires))
	}
	if len(k.From) > 0 {
		lines = append(lines, "from = "+FormatNetworks(k.From))
	}
	return strings.Join(lines, br) + br
}

func (o Organization) has(name string) bool {
	return slices.ContainsFunc(o.Keys, func(k keyring.StoredKey) bool { return strings.EqualFold(k.Name, name) })
}

// freeName returns a name for a key that none has: base, or base with a number.
func (o Organization) freeName(base string) string {
	name := base
	for n := 2; o.has(name); n++ {
		number := "-" + strconv.Itoa(n)
		name = base[:min(len(base), maxKeyName-len(number))] + number
	}
	return name
}

// retiredName is for a key that was rotated, such as ci-until-20270131.
func (o Organization) retiredName(old keyring.StoredKey) string {
	base, until := old.Name, "-until-"+strings.ReplaceAll(lastDay(old.Expires), "-", "")
	if base == "" {
		base = string(old.Role)
	}
	room := maxKeyName - len(until) - len("-99") // for a number, when it is rotated again
	return o.freeName(base[:min(len(base), room)] + until)
}

// belowComments returns where a section can be added at an index without coming between a
// setting and the comments right below it. Those right above the next section stay there.
func (d *Document) belowComments(at int) int {
	below := at
	for below < len(d.lines) && d.lines[below].isComment() {
		below++
	}
	if below < len(d.lines) && d.lines[below].kind != lineEmpty {
		return at
	}
	return below
}

// withComments is the span of a section with what belongs to it: the comments right above
// and right below it, and one of the blank lines around it.
func (d *Document) withComments(s span) span {
	s.last = d.belowComments(s.last+1) - 1
	for s.first > 0 && d.lines[s.first-1].isComment() {
		s.first--
	}
	if s.first > 0 && d.lines[s.first-1].isBlank() && (s.last+1 == len(d.lines) || d.lines[s.last+1].isBlank()) {
		s.first--
	}
	return s
}

func (l line) isBlank() bool { return l.kind == lineEmpty && strings.TrimSpace(l.text) == "" }

func (l line) isComment() bool { return l.kind == lineEmpty && !l.isBlank() }
