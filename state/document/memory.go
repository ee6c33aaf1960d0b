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

func (a *allowance) take(n int64) error {
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

// oneMore returns a list with room for one more element of size bytes.
func oneMore[T any](list []T, size int64, a *allowance) ([]T, error) {
	if len(list) < cap(list) {
		return list, nil
	}
	more := max(len(list), 8)
	if err := a.take(int64(len(list)+more) * size); err != nil { // the old list stays until it is collected
		return nil, err
	}
	return slices.Grow(list, more), nil
}
