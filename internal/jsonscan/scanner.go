package jsonscan

// The reasons that several places give.
const (
	noValue    = "a value should start here"
	noName     = "a member's name should start here"
	endOfData  = "unexpected end"
	endOfText  = "unexpected end in a string"
	badLiteral = "a word that is not true, false or null"
)

// The bits of the stack: what the innermost container is.
const (
	array  = 0
	object = 1
)

// scanner is one pass over data. Its methods take the offset where they start and return
// the one behind what they took, or -1 with err set: one register instead of three, and
// nothing to wrap on the way out.
type scanner struct {
	data []byte
	err  error
	nul  int // offset of the last escape of a NUL; none can stand at zero
	// What has gone by so far: how many stretches of white space, and how many escapes.
	spaces, escapes int

	// The containers that are open, one bit for each, the innermost lowest. The 64
	// innermost at most are in bits, so that the depth of a real state needs no memory;
	// full words move to spill.
	bits  uint64
	spill []uint64
	depth int

	containers    int
	maxDepth      int
	maxContainers int
}

func (s *scanner) fail(i int, reason string) int {
	s.err = &SyntaxError{Offset: i, Reason: reason}
	return -1
}

// value scans the value at i with all that it holds.
func (s *scanner) value(i int) int {
	outside := s.depth
	for {
		opened := false
		if i, opened = s.begin(i); i < 0 {
			return i
		}
		if opened {
			continue
		}
		more := false
		if i, more = s.follow(i, outside); !more {
			return i
		}
	}
}

// begin scans a scalar or an empty container at i to its end. For a container with
// content it returns true and where the first value in it starts.
func (s *scanner) begin(i int) (int, bool) {
	if i >= len(s.data) {
		return s.fail(i, endOfData), false
	}
	switch c := s.data[i]; c {
	case '"':
		return s.text(i), false
	case '{':
		return s.beginObject(i)
	case '[':
		return s.beginArray(i)
	case 't':
		return s.literal(i, "true"), false
	case 'f':
		return s.literal(i, "false"), false
	case 'n':
		return s.literal(i, "null"), false
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return s.number(i), false
	}
	return s.fail(i, noValue), false
}

func (s *scanner) beginObject(i int) (int, bool) {
	if !s.push(i, object) {
		return -1, false
	}
	i = s.space(i + 1)
	if i < len(s.data) && s.data[i] == '}' {
		s.pop()
		return i + 1, false
	}
	i = s.memberValue(i)
	return i, i >= 0
}

func (s *scanner) beginArray(i int) (int, bool) {
	if !s.push(i, array) {
		return -1, false
	}
	i = s.space(i + 1)
	if i < len(s.data) && s.data[i] == ']' {
		s.pop()
		return i + 1, false
	}
	return i, true
}

// follow takes what stands behind a value: the ends of containers, until only outside of
// them are open, or a comma. After a comma it returns true and where the next value starts.
func (s *scanner) follow(i, outside int) (int, bool) {
	for s.depth > outside {
		i = s.space(i)
		if i >= len(s.data) {
			return s.fail(i, endOfData), false
		}
		switch c := s.data[i]; {
		case c == ',' && s.bits&1 == object:
			i = s.memberValue(s.space(i + 1))
			return i, i >= 0
		case c == ',':
			return s.space(i + 1), true
		case c == '}' && s.bits&1 == object, c == ']' && s.bits&1 == array:
			s.pop()
			i++
		default:
			return s.fail(i, s.noComma()), false
		}
	}
	return i, false
}

func (s *scanner) noComma() string {
	if s.bits&1 == object {
		return "a comma or the end of the object should be here"
	}
	return "a comma or the end of the array should be here"
}

// memberValue scans a name and its colon, and returns where the value starts.
func (s *scanner) memberValue(i int) int {
	if i = s.name(i); i < 0 {
		return i
	}
	return s.colon(i)
}

func (s *scanner) name(i int) int {
	if i >= len(s.data) {
		return s.fail(i, endOfData)
	}
	if s.data[i] != '"' {
		return s.fail(i, noName)
	}
	return s.text(i)
}

func (s *scanner) colon(i int) int {
	i = s.space(i)
	if i >= len(s.data) {
		return s.fail(i, endOfData)
	}
	if s.data[i] != ':' {
		return s.fail(i, "a colon should be here")
	}
	return s.space(i + 1)
}
