package jsonscan

import "bytes"

// MostValues is how many values a text of JSON has at most, or some more: before each is a bracket or a comma. It
// counts those within strings too, so that a text in a text can be bounded before it is read.
func MostValues(text []byte) (n int) {
	for _, before := range []string{"{", "[", ","} {
		n += bytes.Count(text, []byte(before))
	}
	return n
}

// MostValuesOutside is as MostValues, but for what is within strings.
func MostValuesOutside(text []byte) (n int) {
	within := false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			within = !within
		case '\\':
			i++ // what is escaped ends no string
		case '{', '[', ',':
			if !within {
				n++
			}
		}
	}
	return n
}
