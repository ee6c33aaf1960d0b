package document

import (
	"bytes"
	"errors"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/jsonscan"
)

// maxMembers is how many members an object of the format itself may have; the clients
// write up to thirteen.
const maxMembers = 64

// eachMember goes into an object that belongs to the format and calls visit with the names
// of its members. It refuses a name that comes twice: readers would differ in which one
// counts. where is what the object is called in messages.
func eachMember(c *jsonscan.Cursor, where string, visit func(name []byte) error) error {
	if c.Kind() != '{' {
		return unsupported("%s is not an object", where)
	}
	var room [16][]byte
	names := room[:0]
	return c.Each(func(child jsonscan.Child) error {
		for _, name := range names {
			if bytes.Equal(name, child.Name) {
				return unsupported("%s has a member twice", where)
			}
		}
		if len(names) == maxMembers {
			return unsupported("%s has more than %d members", where, maxMembers)
		}
		names = append(names, child.Name)
		return visit(child.Name)
	})
}

// eachValue is eachMember for an object of which all values are taken.
func eachValue(c *jsonscan.Cursor, where string, visit func(name, value []byte) error) error {
	return eachMember(c, where, func(name []byte) error {
		value, err := c.Value()
		if err != nil {
			return err
		}
		return visit(name, value)
	})
}

// eachElement goes into a list; null is an empty one, as in the clients.
func eachElement(c *jsonscan.Cursor, where string, visit func(index int) error) error {
	if kind := c.Kind(); kind != '[' && kind != 'n' {
		return unsupported("%s is not a list", where)
	}
	return c.Each(func(child jsonscan.Child) error { return visit(child.Index) })
}

// MaxDepth is how many objects and arrays of a state may be open at once. The clients' own
// reader, encoding/json, goes no deeper, and neither does what makes answers of a state: one
// limit here makes all of them refuse the same states.
const MaxDepth = 10_000

// top is the members of a state as they stand in the body; nil for one that is absent.
type top struct {
	version, terraformVersion, serial, lineage, outputs, encrypted []byte

	hasResources bool
	// resources, if it is set, goes into the list of resources.
	resources func(*jsonscan.Cursor) error
	// also, if it is set, is told of each member, of the resources without their value.
	also func(name, value []byte) error
}

// read reads the top-level members and refuses what is not a state of version 4.
func (t *top) read(body []byte) error {
	c := jsonscan.NewCursor(body, jsonscan.Limits{Depth: MaxDepth})
	if c.Kind() != '{' {
		return fault.New(fault.StateInvalid, "the body is not a JSON object")
	}
	err := eachMember(c, "the state", func(name []byte) error {
		if string(name) == "resources" {
			if err := t.tell(name, nil); err != nil {
				return err
			}
			return t.enter(c)
		}
		value, err := c.Value()
		if err != nil {
			return err
		}
		t.member(name, value)
		return t.tell(name, value)
	})
	if err == nil {
		err = c.Close()
	}
	if err != nil {
		return invalid(err)
	}
	return t.check()
}

func (t *top) tell(name, value []byte) error {
	if t.also == nil {
		return nil
	}
	return t.also(name, value)
}

// enter goes into the resources, unless the version is known to be another.
func (t *top) enter(c *jsonscan.Cursor) error {
	t.hasResources = true
	if t.version != nil && t.check() != nil {
		return t.check()
	}
	if t.resources == nil {
		return nil
	}
	return t.resources(c)
}

// invalid makes the scanner's error a fault; nothing else can fail in a body that is JSON.
func invalid(err error) error {
	if e, ok := errors.AsType[*jsonscan.LimitError](err); ok {
		return unsupported("nested deeper than %d objects and arrays at byte offset %d", e.Max, e.Offset)
	}
	if e, ok := errors.AsType[*jsonscan.SyntaxError](err); ok {
		return fault.New(fault.StateInvalid, "the body is not valid JSON: %s at byte offset %d", e.Reason, e.Offset)
	}
	return err
}

func (t *top) member(name, value []byte) {
	switch string(name) {
	case "version":
		t.version = value
	case "terraform_version":
		t.terraformVersion = value
	case "serial":
		t.serial = value
	case "lineage":
		t.lineage = value
	case "outputs":
		t.outputs = value
	case "encrypted_data":
		t.encrypted = value
	}
}

func (t *top) check() error {
	switch {
	case t.encrypted != nil && t.version == nil && !t.hasResources:
		return fault.New(fault.StateEncrypted, "encrypted by the client: the server has no key to look into this state")
	case t.version == nil:
		return unsupported("the state names no format version; only version 4 is understood")
	case string(t.version) != "4":
		return unsupported("the state's format version is not 4")
	}
	return nil
}
