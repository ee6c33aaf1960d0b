package document

import "github.com/holdfast/holdfast/internal/jsonscan"

func (p *parser) resources(c *jsonscan.Cursor) error {
	return eachElement(c, "resources", func(index int) error {
		return inList(p.resource(c), "resources", index)
	})
}

// resource reads one resource and appends its instances, wherever in it they stand.
func (p *parser) resource(c *jsonscan.Cursor) error {
	var common Instance
	first := len(p.doc.Instances)
	err := eachMember(c, "a resource", func(name []byte) error {
		if string(name) == "instances" {
			return p.instances(c)
		}
		value, err := c.Value()
		if err != nil {
			return err
		}
		switch string(name) {
		case "provider":
			return common.setField(FieldProvider, value)
		case "each":
			return common.setField(FieldEach, value)
		}
		return p.resourceName(&common.Place, string(name), value)
	})
	if err != nil {
		return err
	}
	if common.Mode != managed && common.Mode != data {
		return unsupported("the mode is neither managed nor data")
	}
	length := int64(len(common.Module) + len(common.Mode) + len(common.Type) + len(common.Name) + keyBytes)
	for n := first; n < len(p.doc.Instances); n++ {
		if err := p.memory.acquire(length + int64(len(p.doc.Instances[n].Key.text))); err != nil {
			return err
		}
		p.doc.Instances[n].belong(&common)
	}
	return nil
}

func (p *parser) instances(c *jsonscan.Cursor) error {
	return eachElement(c, "instances", func(index int) (err error) {
		if p.doc.Instances, err = oneMore(p.doc.Instances, instanceBytes, &p.memory); err != nil {
			return err
		}
		p.doc.Instances = append(p.doc.Instances, Instance{})
		return inList(p.doc.Instances[len(p.doc.Instances)-1].read(c), "instances", index)
	})
}

// belong takes over what an instance has from its resource.
func (i *Instance) belong(common *Instance) {
	i.Module, i.Mode, i.Type, i.Name = common.Module, common.Mode, common.Type, common.Name
	i.fields[FieldEach] = common.fields[FieldEach]
	if i.fields[FieldProvider] == nil {
		i.fields[FieldProvider] = common.fields[FieldProvider]
	}
	i.Address = i.address()
}

// resourceName takes a member that is part of all instances' addresses.
func (p *parser) resourceName(place *Place, name string, value []byte) error {
	var target *string
	switch name {
	case "module":
		target = &place.Module
	case "mode":
		target = &place.Mode
	case "type":
		target = &place.Type
	case "name":
		target = &place.Name
	default:
		return nil
	}
	if value[0] != '"' && value[0] != 'n' {
		return unsupported("%s is not a string", name)
	}
	*target = p.intern(value)
	return nil
}

// read reads an instance's own members.
func (i *Instance) read(c *jsonscan.Cursor) error {
	var flat []byte
	err := eachValue(c, "an instance", func(name, value []byte) (err error) {
		switch string(name) {
		case "attributes":
			i.Attributes = value
		case "attributes_flat":
			flat = value
		case "index_key":
			var ok bool
			if i.Key, ok = readKey(value); !ok {
				return unsupported("index_key is neither a string nor an integer")
			}
		case "deposed":
			i.Deposed, err = optionalText(value, "deposed")
		default:
			if f, ok := fieldNamed(name); ok && f != FieldEach {
				return i.setField(f, value)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return i.setAttributes(flat)
}

// setAttributes settles which attributes count. The client too takes the flat ones only
// without others, and an instance with none as one with an empty object.
func (i *Instance) setAttributes(flat []byte) error {
	if i.Attributes == nil && flat != nil && flat[0] != 'n' {
		i.Attributes = flat
		i.fields[FieldFlat] = []byte("true")
	}
	if i.Attributes == nil || i.Attributes[0] == 'n' {
		i.Attributes = []byte("{}")
	}
	if i.Attributes[0] != '{' {
		return unsupported("attributes is not an object")
	}
	return nil
}

func (i *Instance) setField(f Field, value []byte) error {
	raw := plain(f, value)
	if raw == nil {
		return nil
	}
	if !f.takes(raw) {
		return unsupported("%s has a value of another kind than the clients write", f)
	}
	i.fields[f] = raw
	return nil
}
