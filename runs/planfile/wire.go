package planfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// The kinds of a protobuf field on the wire. Groups, which proto3 does not have, are refused.
const (
	wireVarint = 0
	wire64     = 1
	wireBytes  = 2
	wire32     = 5
)

const (
	maxField   = 64 << 10 // of a field that is read rather than passed over
	maxMember  = 1 << 40  // of a field that is passed over, far beyond any limit of a file
	maxRepeats = 10_000   // of an address in a list
)

// message reads the fields of a protobuf message, one after the other, and holds only what it is
// asked for. The plan of a large state has hundreds of megabytes of fields that nobody needs here.
type message struct {
	r *bufio.Reader
	// of the field at hand
	number uint64
	kind   uint64
	scalar uint64 // if it is a varint
	length uint64 // if it is bytes, which text or skip takes
}

var errWire = errors.New("no protobuf message")

func newMessage(r io.Reader) *message { return &message{r: bufio.NewReaderSize(r, 32<<10)} }

// next goes to the next field; false is the message's end.
func (m *message) next() (bool, error) {
	tag, err := binary.ReadUvarint(m.r)
	if err == io.EOF {
		return false, nil
	}
	if err != nil {
		return false, wireError(err)
	}
	m.number, m.kind = tag>>3, tag&7
	if m.number == 0 {
		return false, errWire
	}
	switch m.kind {
	case wireVarint:
		m.scalar, err = binary.ReadUvarint(m.r)
	case wireBytes:
		m.length, err = binary.ReadUvarint(m.r)
	case wire32:
		m.length = 4
	case wire64:
		m.length = 8
	default:
		return false, errWire
	}
	return err == nil, wireError(err)
}

// skip passes over the field at hand.
func (m *message) skip() error {
	if m.kind == wireVarint {
		return nil
	}
	if m.length > maxMember {
		return errWire
	}
	_, err := io.CopyN(io.Discard, m.r, int64(m.length))
	return wireError(err)
}

// text takes the bytes of the field at hand.
func (m *message) text() ([]byte, error) {
	if m.kind != wireBytes || m.length > maxField {
		return nil, errWire
	}
	text := make([]byte, m.length)
	_, err := io.ReadFull(m.r, text)
	return text, wireError(err)
}

// wireError takes whatever ends a field too early for a message that is none; what the reader
// below says of itself it remembers.
func wireError(err error) error {
	if err != nil {
		return errWire
	}
	return nil
}

// fields calls visit for each field of a message that is wholly at hand. What visit leaves is
// passed over.
func fields(text []byte, visit func(m *message) (taken bool, err error)) error {
	return newMessage(bytes.NewReader(text)).each(visit)
}

func (m *message) each(visit func(m *message) (taken bool, err error)) error {
	for {
		more, err := m.next()
		if !more || err != nil {
			return err
		}
		taken, err := visit(m)
		if err == nil && !taken {
			err = m.skip()
		}
		if err != nil {
			return err
		}
	}
}
