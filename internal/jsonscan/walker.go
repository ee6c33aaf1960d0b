package jsonscan

// walker is a scanner that knows where it is. Its methods take and return offsets as the
// scanner's do.
type walker struct {
	scanner
	visit   func(*Value) error
	value   Value // that is being visited: one for all, in no need of copies
	stopped bool  // by an error of visit
	frames  []frame
	names   nameSet
	members int // that have gone by

	maxMembers int // 0 is no limit
}

// frame is an open container.
type frame struct {
	start int    // offset of its bracket
	index int    // of the element that is being scanned; -1 in an object
	name  []byte // of the member that is being scanned
	names int    // how many names were known when it opened
	// spaces is how many stretches of white space had gone by then.
	spaces int
}

// run scans the object at i and what follows it.
func (w *walker) run(i int) int {
	i = w.open(i)
	for i >= 0 && w.depth > 0 {
		i = w.next(i)
	}
	if i < 0 {
		return i
	}
	if i = w.space(i); i < len(w.data) {
		return w.fail(i, "data after the object")
	}
	return i
}

// next scans the value at i and what follows it, up to the next value's start. Of a
// container with content it scans only what comes before that content.
func (w *walker) next(i int) int {
	if i >= len(w.data) {
		return w.fail(i, endOfData)
	}
	c := w.data[i]
	if c == '{' || c == '[' {
		return w.open(i)
	}
	end, _ := w.begin(i)
	if end < 0 || w.hasNUL() || !w.report(Value{Kind: kindOf(c), Text: w.data[i:end:end], Start: i}) {
		return -1
	}
	return w.follow(end)
}

func kindOf(first byte) Kind {
	switch first {
	case '"':
		return String
	case 't', 'f':
		return Bool
	case 'n':
		return Null
	}
	return Number
}

// open enters the container at i.
func (w *walker) open(i int) int {
	kind, begin, index, end := uint64(object), BeginObject, -1, byte('}')
	if w.data[i] == '[' {
		kind, begin, index, end = array, BeginArray, 0, ']'
	}
	if !w.push(i, kind) || !w.report(Value{Kind: begin, Start: i}) {
		return -1
	}
	w.frames = append(w.frames, frame{start: i, index: index, names: len(w.names.names), spaces: w.spaces})
	i = w.space(i + 1)
	if i < len(w.data) && w.data[i] == end {
		return w.follow(i)
	}
	if kind == object {
		return w.member(i)
	}
	return i
}

// member takes the name at i and its colon, and returns where the value starts.
func (w *walker) member(i int) int {
	top := &w.frames[len(w.frames)-1]
	top.name = nil
	escapes := w.escapes
	end := w.name(i)
	if end < 0 {
		return end
	}
	top.name = w.data[i+1 : end-1 : end-1]
	if w.escapes > escapes {
		top.name, _ = Unquote(w.data[i:end])
	}
	if w.hasNUL() {
		return -1
	}
	if w.err = w.remember(i, top); w.err != nil {
		return -1
	}
	return w.colon(end)
}

// remember takes the name at i among those of the innermost object.
func (w *walker) remember(i int, top *frame) error {
	if w.members++; w.maxMembers > 0 && w.members > w.maxMembers {
		return &LimitError{Offset: i, Limit: "names", Max: w.maxMembers}
	}
	if !w.names.add(len(w.frames), top.name) {
		return &DuplicateError{Offset: i}
	}
	return nil
}

// follow takes what stands behind a value or an opening bracket at i: the ends of
// containers, or a comma. It returns where the next value starts, or the end of the data
// behind the outermost container.
func (w *walker) follow(i int) int {
	for i >= 0 && w.depth > 0 {
		i = w.space(i)
		if i >= len(w.data) {
			return w.fail(i, endOfData)
		}
		switch c := w.data[i]; {
		case c == ',' && w.bits&1 == object:
			return w.member(w.space(i + 1))
		case c == ',':
			w.frames[len(w.frames)-1].index++
			return w.space(i + 1)
		case c == '}' && w.bits&1 == object:
			i = w.close(i+1, EndObject)
		case c == ']' && w.bits&1 == array:
			i = w.close(i+1, EndArray)
		default:
			return w.fail(i, w.noComma())
		}
	}
	return i
}

// close leaves the innermost container, which ends before end.
func (w *walker) close(end int, kind Kind) int {
	w.pop()
	last := len(w.frames) - 1
	top := w.frames[last]
	w.frames = w.frames[:last]
	if last > 0 { // what ends with the walk can stay
		w.names.forget(top.names)
	}
	if !w.report(Value{Kind: kind, Text: w.data[top.start:end:end], Start: top.start, Spaced: w.spaces > top.spaces}) {
		return -1
	}
	return end
}

func (w *walker) report(v Value) bool {
	if w.visit == nil {
		return true
	}
	w.value = v
	w.value.Path = Path{w.frames}
	w.err = w.visit(&w.value)
	w.stopped = w.err != nil
	return !w.stopped
}

// hasNUL fails when the string that was just scanned has one.
func (w *walker) hasNUL() bool {
	if w.nul == 0 {
		return false
	}
	w.err = &NULError{Offset: w.nul}
	return true
}
