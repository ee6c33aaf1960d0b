package document

// Counts says how much is in a state.
type Counts struct {
	Managed, Data Count
}

// Count is of one mode. Resources without instances don't count; deposed objects count as
// instances.
type Count struct {
	Resources, Instances int
}

// CountOf counts without building a Document, entry by entry of the resources. Errors are those of Parse, except that
// instances are not looked into.
func CountOf(body []byte) (Counts, error) { return CountAlong(body, nil) }

// CountAlong is CountOf that also calls member, if it is set, for each of the state's own
// members, as jsonscan.Object does, but with no value for the resources. An error of member
// is returned as it is.
func CountAlong(body []byte, member func(name, value []byte) error) (Counts, error) {
	c := counting{most: -1}
	err := c.read(body, member)
	return c.Counts, err
}

// Counts counts a Document.
func (d *Document) Counts() Counts {
	var c Counts
	for n := range d.Instances {
		i := &d.Instances[n]
		count := c.of(i.Mode)
		count.Instances++
		if n == 0 || !i.sameResource(&d.Instances[n-1]) {
			count.Resources++
		}
	}
	return c
}

func (i *Instance) sameResource(other *Instance) bool {
	return i.Module == other.Module && i.Mode == other.Mode && i.Type == other.Type && i.Name == other.Name
}

func (c *Counts) of(mode string) *Count {
	if mode == data {
		return &c.Data
	}
	return &c.Managed
}
