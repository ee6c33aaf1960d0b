package jsonscan

// Child is a direct child of an object or an array. Its text is data[Start:End], without
// white space around it.
type Child struct {
	Name       []byte // without quotes and escapes; nil in an array, never nil in an object
	Index      int    // how many children come before it
	Start, End int    // a Cursor does not know the End yet
}

// Children checks that data is one JSON value and calls visit for each direct child, in
// the order of the text; a scalar has none. It is what [Object] is, for arrays too, and
// with offsets for who copies the text around a child.
//
// A name may share data's memory, so visit must not change it. The error is a
// [*SyntaxError], or what visit returned, as it is; the first ends the scan. As with
// Object, what visit learned counts only if Children returns nil.
func Children(data []byte, visit func(Child) error) error {
	c := NewCursor(data, Limits{})
	err := c.Each(func(child Child) error {
		if _, err := c.Value(); err != nil {
			return err
		}
		child.End = c.i
		return visit(child)
	})
	if err != nil {
		return err
	}
	return c.Close()
}
