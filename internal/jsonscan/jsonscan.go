// Package jsonscan checks that bytes are one JSON object, strictly and in one pass, and
// reports the object's members on the way without building a tree.
//
// It exists for Terraform states: up to 100 MB, of which the server needs three fields
// but must know that the rest is whole. The scanner
//
//   - takes the grammar of RFC 8259 and nothing more: no comments, no trailing commas,
//     no byte order mark, exactly one value with only white space around it;
//   - takes only valid UTF-8, and refuses escapes of unpaired surrogates such as
//     "\ud800". RFC 8259 leaves both to the parser, RFC 7493 forbids them; a reader that
//     replaces them (encoding/json does) sees another text than the one that was stored;
//   - does not recurse: each open container costs one bit, so a body that is nothing but
//     brackets costs an eighth of its size rather than the goroutine's stack;
//   - does not allocate, except for nesting beyond 64 levels, top-level names that
//     contain escapes, and errors.
//
// Duplicate names are no fault of syntax: [Object] reports every member, and the caller
// decides. [Walk], for what strangers upload, refuses them and NULs, reports the values
// of every level, and says where a fault is. Errors carry an offset and a fixed reason,
// never a piece of the data, because the data holds secrets; a pointer is made of names.
package jsonscan

import "math"

// Limits bounds the shape of a value. A zero means no limit.
type Limits struct {
	// Depth is how many containers may be open at once; the top-level object is the first.
	Depth int
	// Containers is how many objects and arrays there may be, the top-level one included.
	Containers int
	// Names is how many members all objects may have together. [Object], which remembers no
	// names, doesn't count them.
	Names int
}

// Object checks that data is one JSON object and calls member for each member of the
// top-level object, in the order of the text; member may be nil.
//
// The key is the name without its quotes and with its escapes resolved, so that
// "se\u0072ial" arrives as serial. The value is the member's text as it stands in data,
// without white space around it; [Unquote] resolves it if it is a string. Name and value
// have been checked when member is called, but what follows them has not: what member
// learned counts only if Object returns nil. Both slices may point into data, so member
// must not change them, and must copy what it keeps.
//
// The error is a [*SyntaxError] if data is not JSON, a [*NotObjectError] if it starts as
// another kind of value, a [*LimitError] if it exceeds the limits, or what member
// returned, as it is. The first of them ends the scan.
func Object(data []byte, limits Limits, member func(key, value []byte) error) error {
	s := newScanner(data, limits)
	i := s.space(0)
	if !s.startsObject(i) || !s.push(i, object) {
		return s.err
	}
	if i = s.members(i+1, member); i < 0 {
		return s.err
	}
	if i = s.space(i); i < len(data) {
		s.fail(i, "data after the object")
	}
	return s.err
}

func newScanner(data []byte, limits Limits) scanner {
	s := scanner{data: data, maxDepth: limits.Depth, maxContainers: limits.Containers}
	if s.maxDepth == 0 {
		s.maxDepth = math.MaxInt
	}
	if s.maxContainers == 0 {
		s.maxContainers = math.MaxInt
	}
	return s
}

// startsObject reports whether an object starts at i, and fails with what is there instead.
func (s *scanner) startsObject(i int) bool {
	if i >= len(s.data) {
		return s.fail(i, "no value") >= 0
	}
	switch s.data[i] {
	case '{':
		return true
	case '[':
		s.err = &NotObjectError{Offset: i, Kind: "an array"}
	case '"':
		s.err = &NotObjectError{Offset: i, Kind: "a string"}
	case 't', 'f':
		s.err = &NotObjectError{Offset: i, Kind: "a boolean"}
	case 'n':
		s.err = &NotObjectError{Offset: i, Kind: "null"}
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		s.err = &NotObjectError{Offset: i, Kind: "a number"}
	default:
		s.fail(i, noValue)
	}
	return false
}

// members scans the top-level object from behind its brace, and returns the offset behind it.
func (s *scanner) members(i int, member func(key, value []byte) error) int {
	if i = s.space(i); i < len(s.data) && s.data[i] == '}' {
		s.pop()
		return i + 1
	}
	for {
		name := i
		if i = s.name(i); i < 0 {
			return i
		}
		nameEnd := i
		if i = s.colon(i); i < 0 {
			return i
		}
		value := i
		if i = s.value(i); i < 0 {
			return i
		}
		if member != nil {
			// The text was just checked, so it can be unquoted.
			key, _ := Unquote(s.data[name:nameEnd])
			if s.err = member(key, s.data[value:i:i]); s.err != nil {
				return -1
			}
		}
		if i = s.space(i); i >= len(s.data) {
			return s.fail(i, endOfData)
		}
		switch s.data[i] {
		case ',':
			i = s.space(i + 1)
		case '}':
			s.pop()
			return i + 1
		default:
			return s.fail(i, s.noComma())
		}
	}
}
