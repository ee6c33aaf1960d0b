package resources

const (
	// PageBytes is how much the resources of a page take, by their Bytes, but always one
	// resource: an answer is in memory for as long as a slow reader takes it.
	PageBytes = 1 << 20
	// MostFound is the most that a single one takes: what the index keeps of a resource is
	// bounded, and so are the places of the others.
	MostFound = 1 << 20

	// resourceBytes, pairBytes and placeBytes are what these take beside their texts.
	resourceBytes = 512
	pairBytes     = 32
	placeBytes    = 64
)

// Bytes is about what it takes in memory.
func (r *Resource) Bytes() int64 {
	n := resourceBytes + len(r.State) + len(r.Address) + len(r.Type) + len(r.Provider) + len(r.Category) + len(r.Module) +
		len(r.Name) + len(r.Key)
	for _, pairs := range [][]Pair{r.Attributes, r.Tags} {
		for _, p := range pairs {
			n += pairBytes + len(p.Name) + len(p.Value)
		}
	}
	return int64(n)
}

// Bytes is about what it takes in memory.
func (c *Covered) Bytes() int64 {
	n := c.Resource.Bytes()
	for _, p := range c.Others {
		n += int64(placeBytes + len(p.State) + len(p.Address))
	}
	return n
}
