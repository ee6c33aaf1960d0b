package handlers

import (
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// readCondition reads what a change of a state is tied to (RFC 9110, 13.1). If-Match compares
// tags strongly, so that a weak one is none of ours; If-None-Match compares them weakly.
func readCondition(header http.Header) (only state.Condition, err error) {
	if only.Is, err = readContents(header, "If-Match", false); err != nil {
		return state.Condition{}, err
	}
	only.Not, err = readContents(header, "If-None-Match", true)
	return only, err
}

// readContents returns nil where there is no such header.
func readContents(header http.Header, name string, weak bool) (*state.Contents, error) {
	lines := header.Values(name)
	if len(lines) == 0 {
		return nil, nil
	}
	text := strings.Join(lines, ",")
	if strings.Trim(text, " \t") == "*" {
		return &state.Contents{Any: true}, nil
	}
	tags, ok := parseTags(text)
	if !ok || len(tags) == 0 {
		return nil, fault.New(fault.ConditionInvalid,
			`the %s is neither * nor a list of tags in quotes, such as "5ad8…"; nothing was done`, name)
	}
	var contents state.Contents
	for _, tag := range tags {
		if digest, ours := tag.digest(); ours && (weak || !tag.weak) {
			contents.Digests = append(contents.Digests, digest)
		}
	}
	return &contents, nil
}

// tag is an entity tag as a client sends it.
type tag struct {
	weak bool
	text string // between the quotes
}

// digest returns the digest of the state that has this tag, as it is or in gzip.
func (t tag) digest() (digest state.Digest, ours bool) {
	text := strings.TrimSuffix(t.text, packedSuffix)
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(digest) {
		return digest, false
	}
	copy(digest[:], raw)
	return digest, digest.String() == text // a tag is equal by its characters
}

// parseTags reads a list of tags, in which there may be commas without one between them.
func parseTags(text string) (tags []tag, ok bool) {
	for {
		text = strings.TrimLeft(text, " \t,")
		if text == "" {
			return tags, true
		}
		one, rest, ok := parseTag(text)
		if !ok {
			return nil, false
		}
		rest = strings.TrimLeft(rest, " \t")
		if rest != "" && rest[0] != ',' {
			return nil, false
		}
		tags, text = append(tags, one), rest
	}
}

// parseTag reads the tag that a text begins with. Inside of the quotes may be whatever can be
// seen, commas too, but no quote and no blank.
func parseTag(text string) (one tag, rest string, ok bool) {
	text, one.weak = strings.CutPrefix(text, "W/")
	text, ok = strings.CutPrefix(text, `"`)
	if !ok {
		return tag{}, "", false
	}
	one.text, rest, ok = strings.Cut(text, `"`)
	for i := range len(one.text) {
		if c := one.text[i]; c <= ' ' || c == 0x7f {
			return tag{}, "", false
		}
	}
	return one, rest, ok
}
