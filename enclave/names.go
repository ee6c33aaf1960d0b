package enclave

import "strings"

// maxName is how long the ID of an enclave or a partition may be.
const maxName = 100

// isID reports whether a text can be the ID of an enclave or a partition: a segment of an address and the
// name of a folder, everywhere.
func isID(text string) bool {
	if text == "" || len(text) > maxName {
		return false
	}
	for i, r := range text {
		if !isLetter(r) && !isDigit(r) && (i == 0 || !strings.ContainsRune("-_.", r)) {
			return false
		}
	}
	return !strings.HasSuffix(text, ".")
}

// isWord reports whether a text can be the name of a variable or an output.
func isWord(text string) bool {
	for i, r := range text {
		if !isLetter(r) && r != '_' && (i == 0 || !isDigit(r) && r != '-') {
			return false
		}
	}
	return text != "" && len(text) <= maxName
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }
func isDigit(r rune) bool  { return r >= '0' && r <= '9' }
