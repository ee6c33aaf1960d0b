package inventory

import (
	"unicode/utf8"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// textWithin returns the text of a JSON string, and whether it has at most limit
// characters.
func textWithin(value []byte, limit int) ([]byte, bool) {
	// A character takes twelve bytes at most: a surrogate pair of escapes. What is longer
	// need not be unquoted first.
	if len(value) > len(`""`)+12*limit {
		return nil, false
	}
	text, ok := jsonscan.Unquote(value)
	return text, ok && runesWithin(text, limit)
}

func runesWithin(text []byte, limit int) bool {
	return len(text) <= limit || len(text) <= utf8.UTFMax*limit && utf8.RuneCount(text) <= limit
}

// isWord reports whether text matches ^[a-zA-Z0-9_-]+$ and is not too long.
func isWord(text []byte) bool {
	if len(text) == 0 || len(text) > MaxWord {
		return false
	}
	for _, c := range text {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
