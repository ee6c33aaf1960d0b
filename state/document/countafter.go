package document

import (
	"math"
	"unsafe"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// Entries are where the entries of a body's resources stand, and what each of them counts. They hold nothing of the
// body itself.
type Entries []entry

// entry is one of them that is no error.
type entry struct {
	start, end uint32
	instances  uint32
	data       bool
}

const (
	entryBytes = int(unsafe.Sizeof(entry{}))
	// entriesPart is the least that a body has for each byte of its Entries: there are none of one whose entries are
	// shorter than any that clients write.
	entriesPart = 8
	// entriesMost is the most that they take: those of 10 MB take some 60 KB.
	entriesMost = 1 << 20
)

// Bytes is about how much memory they take.
func (e Entries) Bytes() int { return cap(e) * entryBytes }

const (
	// skips is how many entries of the body before may have gone since, one after another.
	skips = 2
	// missesMost is how many entries in a row may be others before it is not looked further than that.
	missesMost = 32
)

// counting counts the entries of a body. Those that stood in the body before byte for byte, and were found to be no
// error there, are taken as they were.
type counting struct {
	Counts
	before []byte
	known  Entries // of before, behind those that were met
	missed int     // entries in a row that are not known
	unlike int     // entries that were looked into
	found  Entries
	most   int // of found; when there are more, there are none
}

// CountAfter is CountAlong of a body that has much in common with another one, before, of which known is what
// CountAfter has returned for it. All that it returns, an error too, is what it would be without these, and found is
// for the next one; nil where it would be too large.
func CountAfter(body []byte, member func(name, value []byte) error, before []byte,
	known Entries) (counts Counts, found Entries, err error) {
	c := counting{before: before, known: known, most: min(len(body)/entriesPart, entriesMost) / entryBytes}
	if len(body) > math.MaxUint32 {
		c.most = 0
	}
	c.found = make(Entries, 0, min(c.most, len(known)+len(known)/8+1))
	if err = c.read(body, member); len(c.found) > c.most || err != nil {
		c.found = nil
	}
	return c.Counts, c.found, err
}

// read counts all of a body.
func (c *counting) read(body []byte, member func(name, value []byte) error) error {
	t := top{also: member, resources: func(cursor *jsonscan.Cursor) error {
		return eachElement(cursor, "resources", func(index int) error {
			return inList(c.entry(cursor), "resources", index)
		})
	}}
	return t.read(body)
}

// entry counts the entry at hand.
func (c *counting) entry(cursor *jsonscan.Cursor) error {
	start := cursor.At()
	one, like := c.like(cursor)
	if !like {
		var err error
		c.unlike++
		if one, err = readEntry(cursor); err != nil {
			return err
		}
	}
	if one.instances > 0 {
		count := &c.Managed
		if one.data {
			count = &c.Data
		}
		count.Resources++
		count.Instances += int(one.instances)
	}
	if len(c.found) <= c.most {
		one.start, one.end = uint32(start), uint32(cursor.At())
		c.found = append(c.found, one)
	}
	return nil
}

// like takes the entry at hand if it is one of the next that are known.
func (c *counting) like(cursor *jsonscan.Cursor) (found entry, ok bool) {
	for i := range min(len(c.known), 2*c.missed+skips+1) {
		one := c.known[i]
		if cursor.TakeLike(c.before[one.start:one.end]) {
			c.known, c.missed = c.known[i+1:], 0
			return one, true
		}
	}
	if c.missed < missesMost {
		c.missed++
	} else if len(c.known) > 0 {
		c.known = c.known[1:]
	}
	return entry{}, false
}

// readEntry takes the entry at hand, whatever it is.
func readEntry(cursor *jsonscan.Cursor) (one entry, err error) {
	var mode string
	err = eachMember(cursor, "a resource", func(name []byte) error {
		switch string(name) {
		case "mode":
			value, err := cursor.Value()
			mode = textOf(value)
			return err
		case "instances":
			return eachElement(cursor, "instances", func(int) error { one.instances++; return nil })
		}
		return nil
	})
	if err == nil && mode != managed && mode != data {
		err = unsupported("the mode is neither managed nor data")
	}
	one.data = mode == data
	return one, err
}
