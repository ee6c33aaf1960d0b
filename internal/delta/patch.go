package delta

import (
	"encoding/binary"
	"errors"
)

var errScript = errors.New("delta: the script leads nowhere")

// Patch returns the body of size bytes that a script leads to from base. It fails on a
// script that does anything else, and never goes beyond size.
func Patch(base, script []byte, size int) ([]byte, error) {
	body := make([]byte, 0, size)
	for copied := 0; len(script) > 0; {
		fresh, rest, err := length(script, size-len(body))
		if err != nil || fresh > len(rest) {
			return nil, errScript
		}
		body, script = append(body, rest[:fresh]...), rest[fresh:]
		n, rest, err := length(script, size-len(body))
		if err != nil {
			return nil, errScript
		}
		moved, used := binary.Varint(rest)
		if used <= 0 || moved < -int64(copied) || moved > int64(len(base)-copied) {
			return nil, errScript
		}
		from := copied + int(moved)
		if n > len(base)-from {
			return nil, errScript
		}
		body, script, copied = append(body, base[from:from+n]...), rest[used:], from+n
	}
	if len(body) != size {
		return nil, errScript
	}
	return body, nil
}

// length reads how many bytes a step makes, of which there may be this many.
func length(script []byte, most int) (n int, rest []byte, err error) {
	read, used := binary.Uvarint(script)
	if used <= 0 || read > uint64(most) {
		return 0, nil, errScript
	}
	return int(read), script[used:], nil
}
