package document

import "slices"

// Memory is asked for what is made of a body, such as a list of its instances, before that
// is made: a body of many tiny parts, or one whose parts have long names in common, takes
// many times its own size when it is parsed. Its error ends the parsing. A nil Memory has
// no bound.
type Memory func(bytes int64) error

const (
	// memoryStep is how much is asked for at once.
	memoryStep = 8 << 10
	// instanceBytes and outputBytes are what an Instance and an Output take in a list.
	instanceBytes = 448
	outputBytes   = 96
	// keyBytes is what an instance's key takes in its address, beside the key's own bytes.
	keyBytes = 32
)

// allowance is what a Memory has granted.
type allowance struct {
	memory Memory
	left   int64
}

func (a *allowance) acquire(n int64) error {
	if a.memory == nil {
		return nil
	}
	if n > a.left {
		asked := max(n-a.left, memoryStep)
		if err := a.memory(asked); err != nil {
			return err
		}
		a.left += asked
	}
	a.left -= n
	return nil
}

// meter counts what a comparison takes in memory at the time, and asks a Memory for what is
// more than it ever took before. A nil meter counts nothing.
type meter struct {
	allowance
	now, most int64
	err       error // why the comparison can't go on
}

// What is made to compare, for each piece of it: measured by a test.
const (
	memberBytes  = 256 // of an object, in a map and in a list of names
	elementBytes = 96  // of a list
	pairedBytes  = 96  // an element, while it is found out which one it became
	changeBytes  = 192 // a difference of two values
	stepBytes    = 48  // on the path to one
	pairBytes    = 640 // an instance, while it is found out which of them have moved
	markFactor   = 24  // what is made of marks, for each byte of them
)

// add counts n more. It returns the error of the Memory, or the one that it returned before.
func (m *meter) add(n int64) error {
	if m == nil || m.err != nil {
		return m.failed()
	}
	m.now += n
	if more := m.now - m.most; more > 0 {
		m.most = m.now
		m.err = m.acquire(more)
	}
	return m.err
}

// failed returns the error that ends the comparison, if there is one.
func (m *meter) failed() error {
	if m == nil {
		return nil
	}
	return m.err
}

// mark returns what is taken now.
func (m *meter) mark() int64 {
	if m == nil {
		return 0
	}
	return m.now
}

// backTo forgets what was added since mark returned n, because it is let go of.
func (m *meter) backTo(n int64) {
	if m != nil {
		m.now = n
	}
}

// oneMore returns a list with room for one more element of size bytes.
func oneMore[T any](list []T, size int64, a *allowance) ([]T, error) {
	if len(list) < cap(list) {
		return list, nil
	}
	more := max(len(list), 8)
	if err := a.acquire(int64(len(list)+more) * size); err != nil { // the old list stays until it is collected
		return nil, err
	}
	return slices.Grow(list, more), nil
}
