package planfile

import "encoding/binary"

// packNil is MessagePack's null.
const packNil = 0xc0

// maxPackDepth bounds the nesting of a backend's configuration.
const maxPackDepth = 32

// packReader goes over MessagePack without making values of it.
type packReader struct {
	data []byte
	i    int
}

// peek is the first byte of the value at hand. Behind the end it is one that MessagePack never uses.
func (p *packReader) peek() byte {
	if p.i >= len(p.data) {
		return 0xc1
	}
	return p.data[p.i]
}

// end wants nothing behind the value.
func (p *packReader) end(err error) error {
	if err == nil && p.i != len(p.data) {
		return errWire
	}
	return err
}

// uint takes a number of n bytes.
func (p *packReader) uint(n int) (int, error) {
	if len(p.data)-p.i < n {
		return 0, errWire
	}
	var wide [8]byte
	copy(wide[8-n:], p.data[p.i:p.i+n])
	p.i += n
	value := binary.BigEndian.Uint64(wide[:])
	if value > uint64(len(p.data)) {
		// It counts bytes or elements, and there can't be more of these than there is data.
		return 0, errWire
	}
	return int(value), nil
}

func (p *packReader) pass(n int) error {
	if n < 0 || len(p.data)-p.i < n {
		return errWire
	}
	p.i += n
	return nil
}

// length takes the head of a value whose length is in its first byte, below small, or in the
// bytes behind it, 1, 2 or 4 by the distance of the first byte from wide.
func (p *packReader) sized(extra int) (int, error) {
	p.i++
	return p.uint(extra)
}

func (p *packReader) mapLength() (int, error) {
	switch c := p.peek(); {
	case c&0xf0 == 0x80:
		p.i++
		return int(c & 0xf), nil
	case c == 0xde:
		return p.sized(2)
	case c == 0xdf:
		return p.sized(4)
	}
	return 0, errWire
}

func (p *packReader) textLength() (int, error) {
	switch c := p.peek(); {
	case c&0xe0 == 0xa0:
		p.i++
		return int(c & 0x1f), nil
	case c >= 0xd9 && c <= 0xdb:
		return p.sized(1 << (c - 0xd9))
	case c >= 0xc4 && c <= 0xc6:
		return p.sized(1 << (c - 0xc4))
	}
	return 0, errWire
}

// name takes a string.
func (p *packReader) name() (string, error) {
	length, err := p.textLength()
	if err != nil {
		return "", err
	}
	start := p.i
	if err := p.pass(length); err != nil {
		return "", err
	}
	return string(p.data[start:p.i]), nil
}

// skip passes over the value at hand.
func (p *packReader) skip(depth int) error {
	if depth > maxPackDepth || p.i >= len(p.data) {
		return errWire
	}
	c := p.peek()
	switch {
	case c < 0x80 || c >= 0xe0 || c == packNil || c == 0xc2 || c == 0xc3: // small numbers, null, booleans
		return p.pass(1)
	case c&0xf0 == 0x80 || c == 0xde || c == 0xdf:
		count, err := p.mapLength()
		return p.skipMany(2*count, depth, err)
	case c&0xf0 == 0x90:
		p.i++
		return p.skipMany(int(c&0xf), depth, nil)
	case c == 0xdc || c == 0xdd:
		count, err := p.sized(2 << (c - 0xdc))
		return p.skipMany(count, depth, err)
	case c >= 0xc7 && c <= 0xc9: // extensions: a length, a type, data
		length, err := p.sized(1 << (c - 0xc7))
		if err != nil {
			return err
		}
		return p.pass(length + 1)
	case c >= 0xd4 && c <= 0xd8:
		return p.pass(2 + 1<<(c-0xd4))
	case c == 0xca || c == 0xcb: // floats
		return p.pass(1 + 4<<(c-0xca))
	case c >= 0xcc && c <= 0xd3: // numbers of 1, 2, 4 and 8 bytes
		return p.pass(1 + 1<<((c-0xcc)&3))
	}
	length, err := p.textLength()
	if err != nil {
		return err
	}
	return p.pass(length)
}

func (p *packReader) skipMany(count, depth int, err error) error {
	for ; count > 0 && err == nil; count-- {
		err = p.skip(depth + 1)
	}
	return err
}
