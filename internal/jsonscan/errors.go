package jsonscan

import "fmt"

// SyntaxError is a breach of the grammar. Offset counts bytes from zero; it is the
// length of the data when the data ends too soon.
type SyntaxError struct {
	Offset int
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at byte offset %d: %s", e.Offset, e.Reason)
}

// NotObjectError is a top-level value that starts as another kind than an object. What
// follows its first byte was not looked at.
type NotObjectError struct {
	Offset int
	Kind   string // "an array", "a string", "a number", "a boolean" or "null"
}

func (e *NotObjectError) Error() string {
	return fmt.Sprintf("the JSON value at byte offset %d is %s, not an object", e.Offset, e.Kind)
}

// LimitError is a container or a name beyond one of the limits. Offset is where it begins.
type LimitError struct {
	Offset int
	Limit  string // depth, containers or names
	Max    int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the JSON value exceeds the limit of %d for its %s at byte offset %d", e.Max, e.Limit, e.Offset)
}

// DuplicateError is a name that its object had before. Offset is where it starts.
type DuplicateError struct {
	Offset int
}

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("the name at byte offset %d was in its object before", e.Offset)
}

// NULError is a NUL in a string or a name. Offset is where its escape starts.
type NULError struct {
	Offset int
}

func (e *NULError) Error() string {
	return fmt.Sprintf("a NUL character at byte offset %d", e.Offset)
}

// PlaceError adds to an error where it is, as [Path.Pointer] says it.
type PlaceError struct {
	Pointer string
	Err     error
}

func (e *PlaceError) Error() string {
	return fmt.Sprintf("at %q: %v", e.Pointer, e.Err)
}

func (e *PlaceError) Unwrap() error { return e.Err }
