package resources

// pageBytes is how much text a page has at most, but always one resource: an answer is in
// memory for as long as a slow reader takes it.
const pageBytes = 1 << 20

// fitting returns how many of a list go into a page.
func fitting[T any](all []T, resource func(T) *Resource) int {
	size := 0
	for n, one := range all {
		if size += textBytes(resource(one)); size > pageBytes && n > 0 {
			return n
		}
	}
	return len(all)
}

// textBytes is about how much text a resource has.
func textBytes(r *Resource) int {
	n := len(r.State) + len(r.Address) + len(r.Type) + len(r.Provider) + len(r.Category) + len(r.Module) + len(r.Name) + len(r.Key)
	for _, pairs := range [][]Pair{r.Attributes, r.Tags} {
		for _, p := range pairs {
			n += len(p.Name) + len(p.Value)
		}
	}
	return n
}
