package jsonscan

// Kind is what Walk reports.
type Kind byte

// The kinds. A container is reported twice: when it opens, and when it has closed.
const (
	BeginObject Kind = iota
	EndObject
	BeginArray
	EndArray
	String
	Number
	Bool
	Null
)

// Value is one report of Walk. It is good only until visit returns, but for its Text.
type Value struct {
	Kind Kind
	// Text is the value as it stands in the data; nil for a container that has just
	// opened. It must not be changed.
	Text []byte
	// Start is where in the data the value begins.
	Start int
	// Spaced is whether a container that has closed has white space in it, outside of strings.
	Spaced bool
	// Path says where the value stands.
	Path Path
}

// Walk checks that data is one JSON object as [Object] does, and more strictly: member
// names are unique within their object, whatever their escapes, and no name and no string
// contains a NUL. It calls visit for every value at every level, in the order of the
// text; visit may be nil. What visit learned counts only if Walk returns nil.
//
// Walk does not recurse and builds no tree. It remembers the names of the open objects,
// and a hundred bytes for each open container: limit the depth and the names of what strangers send.
//
// The error is a [*PlaceError] around a [*SyntaxError], [*NotObjectError], [*LimitError],
// [*DuplicateError] or [*NULError], or what visit returned, as it is. The first of them
// ends the walk.
func Walk(data []byte, limits Limits, visit func(*Value) error) error {
	w := walker{scanner: newScanner(data, limits), visit: visit, names: newNameSet(), maxMembers: limits.Names}
	i := w.space(0)
	if w.startsObject(i) && w.run(i) >= 0 {
		return nil
	}
	if w.stopped {
		return w.err
	}
	return &PlaceError{Pointer: Path{w.frames}.Pointer(), Err: w.err}
}

// Shape is a Walk that only checks.
func Shape(data []byte, limits Limits) error { return Walk(data, limits, nil) }
