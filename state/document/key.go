package document

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// Key is an instance key: a number from count, a string from for_each, or, as the zero
// value, none.
type Key struct {
	kind   byte // 0 for none, then number, then string: as the clients order them
	number int64
	text   string
}

const (
	numberKey = 1
	stringKey = 2
)

// IntKey returns the key of an instance of a resource with count.
func IntKey(n int64) Key { return Key{kind: numberKey, number: n} }

// StringKey returns the key of an instance of a resource with for_each.
func StringKey(text string) Key { return Key{kind: stringKey, text: text} }

// String returns the key as it stands in an address, [0] or ["a"]; nothing for none.
func (k Key) String() string {
	switch k.kind {
	case numberKey:
		return "[" + strconv.FormatInt(k.number, 10) + "]"
	case stringKey:
		return "[" + quoteHCL(k.text) + "]"
	}
	return ""
}

// MarshalJSON returns a number, a string or null.
func (k Key) MarshalJSON() ([]byte, error) {
	switch k.kind {
	case numberKey:
		return strconv.AppendInt(nil, k.number, 10), nil
	case stringKey:
		return jsonscan.AppendQuote(nil, k.text), nil
	}
	return []byte("null"), nil
}

// UnmarshalJSON is the reverse of MarshalJSON.
func (k *Key) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil && raw[0] == '"' {
		*k = StringKey(text)
		return nil
	}
	read, ok := readKey(raw)
	if !ok {
		return errors.New("an instance key is a string or an integer")
	}
	*k = read
	return nil
}

func (k Key) compare(other Key) int {
	return cmp.Or(cmp.Compare(k.kind, other.kind), cmp.Compare(k.number, other.number), cmp.Compare(k.text, other.text))
}

// readKey reads an index_key that jsonscan has checked.
func readKey(raw []byte) (Key, bool) {
	switch startOf(raw) {
	case 'n':
		return Key{}, true
	case '"':
		return StringKey(textOf(raw)), true
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return IntKey(n), err == nil
}

// quoteHCL quotes text as the clients do in addresses: as a template of HCL that has
// nothing to evaluate.
func quoteHCL(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range text {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case (r == '$' || r == '%') && strings.HasPrefix(text[i+1:], "{"):
			b.WriteRune(r)
			b.WriteRune(r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
